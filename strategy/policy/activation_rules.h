/* The rules of strategy/policy/activation.h, which includes this once for numbers and once for each vector:
 * ACTIVATION_FLOAT, ACTIVATION_INT are its types, ACTIVATION(name) its functions' names. No guard. */

/* e^y - 1 = 2^k p + (2^k - 1): p and 2^k of y within [-87.25, 88.25]. Adding 1.5 * 2^23 rounds y / ln 2 to a
 * whole number, which then stands in the lowest bits. ln 2 in two parts: the first has 15 bits, so that its
 * product with k is exact. */
ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(expm1_scaled)(ACTIVATION_FLOAT y, ACTIVATION_FLOAT *ret_scale)
{
    const ACTIVATION_FLOAT shifted = y * 0x1.715476p+0f + 0x1.8p+23f;
    const ACTIVATION_FLOAT k = shifted - 0x1.8p+23f;
    const ACTIVATION_FLOAT r = (y - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    *ret_scale = ACTIVATION(of_bits)((ACTIVATION(bits)(shifted) + 127u) << 23);
    ACTIVATION_FLOAT q = r * 0x1.6bebfcp-10f + 0x1.1227bp-7f;
    q = q * r + 0x1.555674p-5f;
    q = q * r + 0x1.5554bp-3f;
    q = q * r + 0x1.fffffep-2f;
    return r + (r * r) * q;
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(exp)(ACTIVATION_FLOAT x)
{
    ACTIVATION_FLOAT scale;
    x = ACTIVATION(at_most)(ACTIVATION(at_least)(x, ACTIVATION_LEAST), ACTIVATION_MOST);
    const ACTIVATION_FLOAT p = ACTIVATION(expm1_scaled)(x, &scale);
    return scale + scale * p;
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(sigmoid)(ACTIVATION_FLOAT x)
{
    ACTIVATION_FLOAT scale;
    x = ACTIVATION(at_most)(ACTIVATION(at_least)(x, ACTIVATION_LEAST), -ACTIVATION_LEAST);
    const ACTIVATION_FLOAT p = ACTIVATION(expm1_scaled)(-x, &scale);
    return 1.0f / (1.0f + (scale + scale * p));
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(silu)(ACTIVATION_FLOAT x)
{
    return ACTIVATION(at_least)(x, ACTIVATION_LEAST) * ACTIVATION(sigmoid)(x);
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(tanh)(ACTIVATION_FLOAT x)
{
    ACTIVATION_FLOAT scale;
    const ACTIVATION_INT sign = ACTIVATION(bits)(x) & 0x80000000u;
    const ACTIVATION_FLOAT y = ACTIVATION(of_bits)(ACTIVATION(bits)(x) ^ sign) * 2.0f;
    const ACTIVATION_FLOAT p = ACTIVATION(expm1_scaled)(ACTIVATION(at_most)(y, 20.0f), &scale);
    const ACTIVATION_FLOAT t = scale * p + (scale - 1.0f);
    return ACTIVATION(of_bits)(ACTIVATION(bits)(t / (t + 2.0f)) | sign);
}

/* Derivatives: of tanh and sigmoid by their result, of silu by its argument. */
ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(tanh_slope)(ACTIVATION_FLOAT y)
{
    return 1.0f - y * y;
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(sigmoid_slope)(ACTIVATION_FLOAT y)
{
    return y * (1.0f - y);
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(silu_slope)(ACTIVATION_FLOAT x)
{
    const ACTIVATION_FLOAT s = ACTIVATION(sigmoid)(x);
    x = ACTIVATION(at_most)(ACTIVATION(at_least)(x, ACTIVATION_LEAST), -ACTIVATION_LEAST);
    return s + s * (x * (1.0f - s));
}

ACTIVATION_RULE ACTIVATION_FLOAT ACTIVATION(relu)(ACTIVATION_FLOAT x)
{
    return ACTIVATION(at_least)(x, 0.0f);
}

/* The networks' arithmetic is one source for float32, which trains, and float64, which is compared with
 * oracles: a file that defines NN_DOUBLE before its includes means float64. */
#ifndef TRAINER_NN_REAL_H
#define TRAINER_NN_REAL_H

#ifdef NN_DOUBLE
typedef double real;
#define REAL(name) name##_f64
#else
typedef float real;
#define REAL(name) name##_f32
#endif

#endif

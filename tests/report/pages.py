"""Pages with charts of synthetic numbers: python3 pages.py DRAW GOLDEN [--accept] (standard library only).

small.html is golden.html, byte for byte; hard.html has what a chart must survive. strict.py has what holds of both.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from strict import check, check_page, faults


def ticks(svg):
    """The texts of both axes: x have the largest y but one, y end at the frame."""
    texts = [(text.get("text-anchor"), float(text.get("y")), text.text) for text in svg.iter("text")]
    below = sorted({y for anchor, y, _ in texts if anchor == "middle"})
    return [words for anchor, y, words in texts if anchor == "middle" and y == below[0]], [words for anchor, _, words in texts if anchor == "end"]


def check_small(root):
    charts = {svg.find("title").text: svg for svg in root.iter("svg")}
    check(len(charts) == 11, f"{len(charts)} charts")
    for title, svg in charts.items():
        if title == "Sharpe":  # a heat map
            continue
        x, y = ticks(svg)
        least = 3 if title == "Levels" else 4
        check(len(x) >= least and len(y) >= 4, f"{title}: ticks {x} {y}")
        check(len(set(x)) == len(x) and len(set(y)) == len(y), f"{title}: ticks twice: {x} {y}")
    check(len(charts["Equity"].findall("polyline")) == 4, "a gap of two days is a gap, in both curves")
    check(len(charts["Drawdown"].findall("polygon")) == 2, "and in the drawdown's area")
    marks = [path.get("d").count("M") for path in charts["Trades"].findall("path")]
    check(sorted(marks) == [1, 1, 7, 8], f"marks: {marks}, the legend's among them")
    check([text.text for text in charts["Value loss"].iter("text")][0] == "log scale", "log scale")
    check(root.find(".//pre").text == "[a]\nx = <1 & 2>\n", "lines are kept")
    bars = [float(rect.get("height")) for rect in charts["Actions"].findall("rect")]
    check(max(bars) / 36 * 25 - sorted(bars)[-2] < 0.011 and bars[-1] == 0, f"bars: {bars}")
    cells = [rect.get("class") for rect in charts["Sharpe"].find("g").iter("rect")]
    check(cells == ["n4", "n2", "h0", "h2", "h4", "h6", "h8", "n8", "h1", "h1", "h4"], f"shades of -1 to 2: {cells}")
    check([text.text for text in charts["Sharpe"].find("g").iter("text")][:3] == ["-1.00", "-0.50", "0.00"], "and numbers")
    held = [float(rect.get("height")) for rect in charts["Returns of days"].findall("rect")]
    check([rect.get("class") for rect in charts["Returns of days"].findall("rect")] == ["c1"] * 3 + ["c0"] * 5, "-3 to 4.875 in bars of 1")
    check(len(set(held)) == 1, f"of 8 each: {held}")
    years = [[cell.text or cell.findtext("data") for cell in row] for row in root.iter("tr")][-2:]
    check(years == [["2023"] + [None] * 10 + ["-1.25", "25.00", "23.44"], ["2024", None, "n/a"] + [None] * 10 + ["-50.00"]], years)
    check(len(charts["Points"].findall(".//circle")) == 3, "what is no number is no point")


def check_hard(root):
    for item in root.iter():
        check(item.text is None or "\x01" not in item.text, "a control character")
    check(root.find(".//h1").text.startswith('<b>&amp; "x" </title><script>é ??? ??? ? a name'), f"escaped: {root.find('.//h1').text!r}")
    empty = [svg for svg in root.iter("svg") if "no data" in [text.text for text in svg.iter("text")]]
    check(len(empty) == 16, f"{len(empty)} charts without a point say so")
    sizes = [len(line.get("points").split()) for line in root.iter("polyline")]
    check(max(sizes) <= 4 * 700 and max(sizes) > 1000, f"points of a curve: {max(sizes)}")


def main(draw, golden, *words):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([draw, folder], check=True, stdout=subprocess.DEVNULL)
        small = os.path.join(folder, "small.html")
        check_small(check_page(small))
        check_hard(check_page(os.path.join(folder, "hard.html")))
        if words == ("--accept",):
            shutil.copy(small, golden)
        with open(small, "rb") as file, open(golden, "rb") as wanted:
            check(file.read() == wanted.read(), "small.html is not golden.html: look at it, then pages.py DRAW GOLDEN --accept")
    for fault in faults[:20]:
        print("FAILED", fault, file=sys.stderr)
    print(f"pages: {len(faults)} failures")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

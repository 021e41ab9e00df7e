"""What holds of every page of report/page.h: well formed as HTML and as XML, loads and runs nothing, has no address in it;
in its charts all is inside the picture, and texts do not overlap. Standard library only."""

import html.parser
import os
import xml.etree.ElementTree

VOID = {"meta"}
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td", "data", "div", "figure", "figcaption", "strong", "svg", "details", "summary", "pre",
    "line", "text", "rect", "circle", "path", "polyline", "polygon", "g"}
ATTRIBUTES = {
    "lang", "charset", "name", "content", "class", "value", "viewbox", "role", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d",
    "points", "text-anchor"}
CHARACTER = 6.2  # of a text of 12 px, at least
faults = []  # sentences


def check(is_right, what):
    if not is_right:
        faults.append(what)
    return is_right


class Strict(html.parser.HTMLParser):
    """Every element is known and closed in its order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.page, self.open = page, []

    def handle_starttag(self, tag, attributes):
        check(tag in KNOWN, f"{self.page}: <{tag}>")
        check({key for key, _ in attributes} <= ATTRIBUTES, f"{self.page}: <{tag} {attributes}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"{self.page}: </{tag}>")

    def handle_comment(self, data):
        check(False, f"{self.page}: a comment: {data}")


def places(item):
    """The x and y that an element has."""
    found = [place.split(",") for place in item.get("points", "").split()]
    found += [(item.get(x), item.get(y)) for x, y in (("x", "y"), ("x1", "y1"), ("x2", "y2"), ("cx", "cy")) if item.get(x)]
    found += [part.split("l")[0].split() for part in item.get("d", "").split("M")[1:]]
    return [(float(x), float(y)) for x, y in found]


def box(text):
    """Left and right end of a text."""
    width = CHARACTER * len(text.text)
    return float(text.get("x")) - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")], width


def check_texts(svg, page, width):
    lines = {}
    for text in svg.iter("text"):
        lines.setdefault(text.get("y"), []).append(box(text))
    for texts in lines.values():
        texts.sort()
        for (left, wide), (after, _) in zip(texts, texts[1:]):
            check(left + wide <= after, f"{page}: texts overlap in {svg.find('title').text[:40]!r}")
        check(all(left >= -1 and left + wide <= width + 1 for left, wide in texts), f"{page}: a text leaves {svg.find('title').text[:40]!r}: {texts}")


def check_chart(svg, page):
    _, _, width, height = map(float, svg.get("viewBox").split())
    check(svg.find("title").text, f"{page}: a chart without a title")
    for item in svg.iter():
        for x, y in places(item):
            if not check(0 <= x <= width and 0 <= y <= height, f"{page}: outside of the picture: {item.tag} {x} {y}"):
                break
    check_texts(svg, page, width)


def check_page(path):
    page = os.path.basename(path)
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    for word in ("<script", "http", "url(", "@import", "javascript", "<link", "<img", "<iframe", "onload", "\r"):
        check(word not in text.lower().replace("&lt;script", ""), f"{page}: {word}")
    check(text.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>'), f"{page}: begins with {text[:60]!r}")
    strict = Strict(page)
    strict.feed(text)
    strict.close()
    check(not strict.open, f"{page}: open: {strict.open}")
    root = xml.etree.ElementTree.fromstring(text)
    for svg in root.iter("svg"):
        check_chart(svg, page)
    check("prefers-color-scheme: dark" in text and root.find(".//h1") is not None, f"{page}: dark")
    return root

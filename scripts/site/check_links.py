#!/usr/bin/env python3
"""Checks the links of a built site: each file, picture and anchor that a page names exists; nothing is loaded from elsewhere.

Usage: check_links.py SITE
Prints page: link for each that leads nowhere, and exits with 1 if there is one.
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and the files that the browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        address = values.get("src") if tag in ("script", "img", "iframe") else values.get("href") if tag == "link" else None
        if address and values.get("rel") != "canonical":
            self.loaded.append(address)


def problems(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links begin at the root of a server
        place = path.relative_to(site)
        for link in page.loaded:
            if urllib.parse.urlsplit(link).netloc:
                yield f"{place}: loads {link} from elsewhere"
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield f"{place}: {link} leads to no file"
            elif parts.fragment and target in pages and parts.fragment not in pages[target].anchors:
                yield f"{place}: {link} leads to no heading"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(problems(pathlib.Path(sys.argv[1]).resolve()))
    print("".join(f"{text}\n" for text in found), end="", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

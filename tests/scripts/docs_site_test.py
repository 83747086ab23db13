#!/usr/bin/env python3
"""Builds the site of the documentation, and notices dead links that are planted. Skipped where mkdocs is missing.

Usage: docs_site_test.py [repository root]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()


def build(site, docs):
    return subprocess.run(["bash", ROOT / "scripts/docs_site.sh", site, docs], capture_output=True, text=True, check=False)


def check_good(folder):
    done = build(folder / "site", ROOT / "docs")
    if done.returncode != 0 or done.stderr or done.stdout:
        sys.exit(f"docs_site: the site doesn't build without a word:\n{done.stdout}{done.stderr}")
    site = folder / "site"
    for page, words in (("gallery.html", "contend sweep scenarios/sweeps/network-need.yaml"), ("api/python.html", "contend"),
                        ("api/plugin.html", "register_policy"), ("search/search_index.json", "checkpoint"),
                        ("css/dark.css", "prefers-color-scheme: dark")):
        if words not in (site / page).read_text(encoding="utf-8"):
            sys.exit(f"docs_site: {page} doesn't hold '{words}'")


PLANTED = """
[a](howto/no-such-page.md) [b](glossary.md#no-such-word) [c](no-such-folder/)
<script src="https://example.org/a.js"></script>
"""


def check_planted(folder):
    """A dead link to a page, one to a heading, one to a folder, and a script from elsewhere, on two pages alone."""
    docs = folder / "docs"
    docs.mkdir()
    shutil.copy(ROOT / "docs/glossary.md", docs)
    (docs / "index.md").write_text(f"# Planted\n{PLANTED}", encoding="utf-8")
    done = build(folder / "planted", docs)
    missing = [text for text in ("contains a link to 'howto/no-such-page.md'", "no-such-word leads to no heading",
                                 "no-such-folder/ leads to no file", "loads https://example.org/a.js from elsewhere")
               if text not in done.stderr + done.stdout]
    if done.returncode != 1 or missing:
        sys.exit(f"docs_site: exit code {done.returncode}; not told: {missing}\n{done.stdout}{done.stderr}")


def main():
    if shutil.which("mkdocs") is None:
        print("docs_site: skipped: mkdocs is missing; scripts/install_deps.sh --site installs it")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        check_good(pathlib.Path(name))
        check_planted(pathlib.Path(name))


if __name__ == "__main__":
    main()

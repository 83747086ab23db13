#!/usr/bin/env python3
"""Lays out the pages of the documentation site: docs/, the pages that are generated, and the files that pages link to.

Usage: stage.py ROOT DOCS TARGET
TARGET gets a copy of DOCS; api/python.md and api/plugin.md of the docstrings and headers; gallery.md; and below source/
each file outside of docs/ to which a page links. A link to a file that doesn't exist stays as it is, and mkdocs rejects it.
"""

import pathlib
import re
import shutil
import sys

import api
import gallery

JQUERY = "/usr/share/javascript/jquery/jquery.min.js"  # of Debian's libjs-jquery, which mkdocs depends on
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def bring(root, docs, target):
    """Copies what pages link to outside of docs/ and lets the links lead to the copies."""
    for path in sorted(target.rglob("*.md")):
        where = docs / path.relative_to(target).parent

        def lead(match, where=where, path=path):
            before, address, after = match.groups()
            named = (where / address).resolve()
            if "://" in address or not named.exists() or named == docs or docs in named.parents or root not in named.parents:
                return match.group(0)
            if named.is_dir():
                named = listing(target, root, named)
            copy = target / "source" / named.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if copy.exists():
                pass
            elif copy.suffix == ".md":
                text = named.read_text(encoding="utf-8")
                copy.write_text(LINK.sub(lambda m: back(m, root, named), text), encoding="utf-8")
            else:
                shutil.copy(named, copy)
            up = "../" * len(path.relative_to(target).parent.parts)
            return f"{before}{up}source/{named.relative_to(root).as_posix()}{after}"

        path.write_text(LINK.sub(lead, path.read_text(encoding="utf-8")), encoding="utf-8")


def listing(target, root, folder):
    """Copies the files of a folder and writes a page that lists them: the path of the page, as if it lay in the folder."""
    copy = target / "source" / folder.relative_to(root)
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix != ".md")
    copy.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copy(path, copy)
    title = folder.relative_to(root).as_posix()
    lines = [f"# Files of {title}", "", *(f"- [{path.name}]({path.name})" for path in files), ""]
    (copy / "index.md").write_text("\n".join(lines), encoding="utf-8")
    return folder / "index.md"


def back(match, root, page):
    """A link of a page outside of docs/: it leads to the page in docs/, or is text alone."""
    before, address, after = match.groups()
    if "://" in address:
        return match.group(0)
    named = (page.parent / address).resolve()
    if root / "docs" in named.parents:
        up = "../" * (1 + len(page.relative_to(root).parent.parts))
        return f"{before}{up}{named.relative_to(root / 'docs').as_posix()}{after}"
    return "]"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    root, docs, target = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    shutil.copytree(docs, target)
    bring(root, docs, target)
    (target / "api").mkdir()
    (target / "api/python.md").write_text(api.python_page(root), encoding="utf-8")
    (target / "api/plugin.md").write_text(api.plugin_page(root), encoding="utf-8")
    (target / "gallery.md").write_text(gallery.page(root, docs), encoding="utf-8")
    (target / "css").mkdir()
    shutil.copy(root / "scripts/site/dark.css", target / "css/dark.css")
    # Debian's theme loads two scripts under names that its package lacks.
    (target / "js").mkdir()
    shutil.copy(root / "scripts/site/theme_extra.js", target / "js/theme_extra.js")
    shutil.copy(JQUERY, target / "js/jquery-3.6.0.min.js")


if __name__ == "__main__":
    main()

"""The pages of the Python module and of the contract of plugins, of docstrings and of the headers that are installed."""

import ast
import re

SPECIAL = ("__getitem__", "__len__", "__iter__")


def signature(node, name=None):
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name or node.name}({ast.unparse(node.args)}){returns}"


def entry(node, level, prefix):
    text = [f"{'#' * level} {prefix}{node.name}", ""]
    if isinstance(node, ast.ClassDef):
        bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
        shown = f"class {node.name}{bases}"
    else:
        properties = [ast.unparse(decorator) for decorator in node.decorator_list]
        shown = "\n".join([*(f"@{name}" for name in properties), f"def {signature(node)}"])
    text += ["```python", shown, "```", "", *indented(ast.get_docstring(node) or ""), ""]
    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and ast.get_docstring(member) and \
                    (not member.name.startswith("_") or member.name in SPECIAL):
                text += entry(member, level + 1, f"{node.name}.")
    return text


def indented(doc):
    """A docstring as Markdown: what is indented in it is code, which Markdown reads so as well."""
    return re.sub(r"([^\n])\n(    )", r"\1\n\n\2", doc).replace("<", "&lt;").splitlines()


def python_page(root):
    package = root / "python/contend"
    main = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    names = next(ast.literal_eval(node.value) for node in main.body
                 if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    defined = {}
    for path in sorted(package.glob("_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                defined.setdefault(node.name, node)
    text = ["# Module contend", "", *indented(ast.get_docstring(main)), "",
            "[Use Contend from Python](../howto/python.md) shows the module at work.", ""]
    for title, kind in (("Functions", ast.FunctionDef), ("Classes", ast.ClassDef)):
        text += [f"## {title}", ""]
        for name in names:
            if isinstance(defined[name], kind):
                text += entry(defined[name], 3, "")
    return "\n".join(text)


def parts(lines):
    """The parts of a header at the level of its namespace: (comment, code) each."""
    comment, code, depth = [], [], 0
    for line in lines:
        if depth == 0 and not line.strip():
            if comment or code:
                yield comment, code
            comment, code = [], []
        elif depth == 0 and not code and line.startswith("//"):
            comment.append(line.lstrip("/").strip())
        elif line.startswith(("namespace ", "#pragma", "#include", "}  // namespace")):
            continue
        else:
            code.append(line)
            bare = re.sub(r"//.*|\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])*'", "", line)
            depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
    if comment or code:
        yield comment, code


def plugin_page(root):
    cmake = (root / "scripts/cmake/ContendInstall.cmake").read_text(encoding="utf-8")
    headers = re.search(r"set\(headers ([^)]*)\)", cmake)[1].split()
    headers.sort(key=lambda name: (not name.startswith("policies/plugin"), name))
    text = ["# Contract of plugins", "", "A policy that is compiled elsewhere includes these headers, which an installed Contend has. "
            "[A policy in a project of its own](../howto/plugin.md) shows one from the source to a run.", ""]
    for header in headers:
        text += [f"## {header}", ""]
        for comment, code in parts((root / header).read_text(encoding="utf-8").splitlines()):
            text += [" ".join(comment).replace("<", "&lt;"), ""]
            if code:
                text += ["```cpp", *code, "```", ""]
    return "\n".join(text)

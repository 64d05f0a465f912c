#!/usr/bin/env python3
"""Checks that files have at most 400 lines and functions at most 60.

usage: file_size.py ROOT       prints file:line of what is longer; exit 1 if there is one
       file_size.py --self-test    proves that both limits object
"""

import pathlib
import re
import sys

MAX_FILE = 400
MAX_FUNCTION = 60
SUFFIXES = {".h", ".cc", ".c", ".py", ".sh", ".proto"}
FOLDERS = ("src", "include", "tests", "bench", "proto")

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|extern\s*$")
DIRECTIVE = re.compile(r"^\s*#.*(?:\\\n.*)*$", re.M)


def blank(match: re.Match) -> str:
    """Comments and literals hold no code; their line breaks stay."""
    return re.sub(r"[^\n]", " ", match.group())


def long_functions(text: str) -> list[tuple[int, int]]:
    """(first line, number of lines) of each function that is too long."""
    code = DIRECTIVE.sub(blank, TOKEN.sub(blank, text))
    found, stack, start = [], [], 0
    for at, char in enumerate(code):
        if char == "{":
            header = code[start:at]
            inside = any(kind == "function" for kind, _ in stack)
            if not inside and "(" in header and not SCOPE.search(header.split("(")[0]):
                first = start + len(header) - len(header.lstrip())
                stack.append(("function", code.count("\n", 0, first) + 1))
            else:
                stack.append(("other", 0))
            start = at + 1
        elif char == "}":
            kind, first = stack.pop() if stack else ("other", 0)
            lines = code.count("\n", 0, at) + 1 - first + 1
            if kind == "function" and lines > MAX_FUNCTION:
                found.append((first, lines))
            start = at + 1
        elif char == ";" and not (stack and stack[-1][0] == "function"):
            start = at + 1
    return found


def long_python_functions(text: str) -> list[tuple[int, int]]:
    import ast

    tree = ast.parse(text)
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    sizes = [(f.lineno, (f.end_lineno or f.lineno) - f.lineno + 1) for f in functions]
    return [(line, size) for line, size in sizes if size > MAX_FUNCTION]


def check_text(name: str, text: str) -> list[str]:
    findings = []
    lines = text.count("\n")
    if lines > MAX_FILE:
        findings.append(f"{name}:1: {lines} lines, {MAX_FILE} are the limit")
    suffix = pathlib.PurePath(name).suffix
    functions = []
    if suffix in (".h", ".cc", ".c"):
        functions = long_functions(text)
    elif suffix == ".py":
        functions = long_python_functions(text)
    for line, size in functions:
        findings.append(f"{name}:{line}: function of {size} lines, {MAX_FUNCTION} are the limit")
    return findings


def check(root: pathlib.Path) -> list[str]:
    findings = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                findings += check_text(str(path.relative_to(root)), path.read_text())
    return findings


def self_test() -> int:
    body = "  f();\n" * MAX_FUNCTION
    objects = [
        ("a.cc", "int x;\n" * (MAX_FILE + 1)),
        ("a.cc", "namespace n {\nvoid G(int a) {\n" + body + "}\n}\n"),
        ("a.cc", "class C {\n  void G() const {\n" + body + "  }\n};\n"),
        ("a.py", "def g():\n" + "    f()\n" * MAX_FUNCTION),
    ]
    accepts = [
        ("a.cc", "namespace n {\n" + "int x;\n" * 100 + "}\n"),
        ("a.cc", "class C {\n" + "  int f();\n" * 100 + "};\n"),
        ("a.cc", "constexpr auto kTable = {\n" + "  1,\n" * 100 + "};\n"),
    ]
    wrong = [t for n, t in objects if not check_text(n, t)]
    wrong += [t for n, t in accepts if check_text(n, t)]
    for text in wrong:
        print("judged wrongly:\n" + text[:200])
    return 1 if wrong else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    findings = check(pathlib.Path(sys.argv[1]))
    print("\n".join(findings) or "no file or function is too long")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

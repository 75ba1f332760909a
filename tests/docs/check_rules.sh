#!/usr/bin/env bash
# Fails where a rule of docs/rules.md about transactions, snapshots, locks or races is named by no test, or a source or
# test names such a rule that docs/rules.md does not have. A test names a rule by its number, in its name without the
# dash (R26…); VAL-1…VAL-5 and LCM-1…3 name all that lie between.
# Usage: check_rules.sh SOURCE_ROOT
set -euo pipefail
cd "${1:?source root}"
python3 - <<'PY'
import os, re, sys

def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()

def files(*folders):
    for folder in folders:
        for where, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith((".cc", ".h", ".sh", ".proto", ".py")):
                    yield os.path.join(where, name)

sentences = re.findall(r"^- \*\*([A-Z]+-\d+)\*\*", read("docs/rules.md"), re.M)
rules = set(sentences)
problems = [f"docs/rules.md has {rule} twice" for rule in sorted(rules) if sentences.count(rule) > 1]
letters = "TYP|OPN|SNP|SER|VAL|CMT|CON|ABT|HBT|TMO|WID|WSN|DYN|LCK|LCM|LCQ|LCU|ISO|STR|RPL|CLI|CLN|MV|NTF|R"
rules = {rule for rule in rules if re.fullmatch(rf"({letters})-\d+", rule)}
number = re.compile(rf"(?<![A-Za-z0-9_])({letters})-(\d+)(?:\s*(?:…|\.\.\.|to|–)\s*(?:\1-)?(\d+))?(?![\w-])")
in_a_name = re.compile(rf"\b({letters})(\d+)(?=[A-Z])")

def named(path):
    text = read(path)
    for letter, first, last in number.findall(text):
        for n in range(int(first), int(last or first) + 1):
            yield f"{letter}-{n}"
    for letter, n in in_a_name.findall(text):
        yield f"{letter}-{n}"

tested = {rule for path in files("tests") if not path.startswith("tests/docs/") for rule in named(path)}
problems += [f"{rule} is named by no test" for rule in sorted(rules - tested)]
for path in files("storage", "server", "client", "proto", "tests"):
    if path.startswith("tests/docs/"):
        continue
    for letter, first, last in number.findall(read(path)):
        for n in {first, last or first}:
            if f"{letter}-{n}" not in rules:
                problems.append(f"{path} names {letter}-{n}, of which docs/rules.md has no sentence")
print("\n".join(sorted(set(problems))) if problems else f"each of the {len(rules)} rules is named by a test")
sys.exit(1 if problems else 0)
PY

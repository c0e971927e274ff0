"""Reads include/tally/tables.h, for tests and for pages that are made of it. What it does not understand is an error.

A row may have several lines, any mask of classes, and any text in its last field.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEXT = (ROOT / "include" / "tally" / "tables.h").read_text()
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d+|\S')


def plain(text):
    """Without comments, and without the line ends of macros."""
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")


def rows(table, text=TEXT):
    """The rows of an X-macro list, each a list of words; a text without its quotes."""
    bodies = re.findall(rf"^#define {table}\(X\)(.*)$", plain(text), re.M)
    if len(bodies) != 1:
        raise ValueError(f"tables.h: there is no list {table}, or several")
    found, tokens = [], TOKEN.findall(bodies[0])
    while tokens:
        if tokens[:2] != ["X", "("]:
            raise ValueError(f"tables.h: {table}: a row X(...) should begin at: {' '.join(tokens[:8])}")
        words, depth, at = [[]], 1, 2
        while depth:
            if at == len(tokens):
                raise ValueError(f"tables.h: {table}: a row does not end: {' '.join(tokens[:8])}")
            depth += (tokens[at] == "(") - (tokens[at] == ")")
            if tokens[at] == "," and depth == 1:
                words.append([])
            elif depth:
                words[-1].append(tokens[at])
            at += 1
        tokens = tokens[at:]
        found.append([" ".join(word)[1:-1] if word[:1] and word[0][0] == '"' else " ".join(word) for word in words])
    if not found or len({len(row) for row in found}) != 1:
        raise ValueError(f"tables.h: {table} has no rows, or rows of different lengths")
    return found


def constants(text=TEXT):
    """The plain #defines: numbers, and masks made of them."""
    found = {}
    for name, value in re.findall(r"^#define (TALLY_[A-Z_0-9]+) +(\(?[A-Z_0-9 |]+\)?)", plain(text), re.M):
        if all(word.isdigit() or word in found for word in re.findall(r"\w+", value)):
            found[name] = mask(value, found)
    return found


def mask(words, known=None):
    """The number of a mask: TALLY_ON_ALL, or TALLY_CLASS_INT | TALLY_CLASS_FLOAT."""
    known = CONSTANTS if known is None else known
    number = 0
    for word in re.findall(r"\w+", words):
        if not word.isdigit() and word not in known:
            raise ValueError(f"tables.h: {words}: there is no {word}")
        number |= int(word) if word.isdigit() else known[word]
    return number


CONSTANTS = constants()

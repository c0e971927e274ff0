"""The nodes of exact operators as docs/states.md has them: words to true values and back, merged by addition."""
import dataclasses
import math
import struct

import order
import truth

# operator: whether it keeps keys, what its first number adds up (none: no such number), whether it has one of products
PARTS = {"sum": (False, "value", False), "mean": (False, "value", False), "norm1": (False, "size", False),
         "sumsq": (False, None, True), "norm2": (False, None, True), "dot": (False, None, True),
         "var": (False, "value", True), "std": (False, "value", True), "stats": (True, "value", True)}
LARGE = {"sum": (-1088, 68), "products": (-2176, 134)}  # f64: origin, limbs
SMALL = {"sum": (-160, 11), "products": (-320, 20)}     # f16, bf16, f32
NO_LOW, NO_HIGH = 2**63 - 1, -2**63


@dataclasses.dataclass
class Number:
    origin: int
    evidence: list  # counts of +inf (or NaN), of -inf (or NaN), of -0, of anything else
    limbs: list

    @property
    def plus(self):
        return self.evidence[0] != 0

    @property
    def minus(self):
        return self.evidence[1] != 0

    def units(self):
        """The finite part, in units of 2^origin."""
        return sum(limb * 2**(32 * i) for i, limb in enumerate(self.limbs))

    def total(self):
        """As truth.total: a whole number of units, or what none can say."""
        if self.plus or self.minus:
            return math.nan if self.plus and self.minus else math.inf if self.plus else -math.inf
        if self.units() == 0 and self.evidence[2] and not self.evidence[3]:
            return -0.0
        return self.units()

    def settled(self):
        """The one form of all that mean the same: evidence 0 or 1, limbs but the last from 0 to 2^32 - 1."""
        evidence = [int(word != 0) for word in self.evidence]
        evidence[2] &= 1 - evidence[3]
        return Number(self.origin, evidence, limbs_of(0 if self.plus or self.minus else self.units(), len(self.limbs)))

    def __add__(self, other):
        """Word by word; not settled."""
        return Number(self.origin, *([a + b for a, b in zip(*pair)]
                                     for pair in ((self.evidence, other.evidence), (self.limbs, other.limbs))))


def limbs_of(units, count):
    return [units >> 32 * i & 0xffffffff for i in range(count - 1)] + [units >> 32 * (count - 1)]


@dataclasses.dataclass
class Node:
    n: int
    keys: tuple  # lowest, highest; empty unless the operator keeps them
    numbers: dict  # "sum", "products": those the operator has

    def settled(self):
        return Node(self.n, self.keys, {name: number.settled() for name, number in self.numbers.items()})

    def merge(self, other):
        keys = (min(self.keys[0], other.keys[0]), max(self.keys[1], other.keys[1])) if self.keys else ()
        numbers = {name: a + other.numbers[name] for name, a in self.numbers.items()}
        return Node(self.n + other.n, keys, numbers).settled()


def shape(op, type_name):
    """The numbers of an operator's node in their order, each with its origin and how many limbs it has."""
    _, first, products = PARTS[op]
    widths = LARGE if type_name == "f64" else SMALL
    return {name: widths[name] for name, there in (("sum", first), ("products", products)) if there}


def parse(op, type_name, node):
    words = list(struct.unpack(f"<{len(node) // 8}q", node))
    n, keys = words.pop(0), ()
    if PARTS[op][0]:
        keys, words = tuple(words[:2]), words[2:]
    numbers = {}
    for name, (origin, count) in shape(op, type_name).items():
        numbers[name] = Number(origin, words[:4], words[4:4 + count])
        words = words[4 + count:]
    if words:
        raise ValueError("the node has other words")
    return Node(n, keys, numbers)


def build(node):
    words = [node.n, *node.keys]
    for number in node.numbers.values():
        words += [*number.evidence, *number.limbs]
    return struct.pack(f"<{len(words)}q", *words)


# ---- from values ----


def key(type_name, raw):
    """Of the value as f32 or f64: orders like it, -0 below +0."""
    kind = truth.natural(type_name)
    bits = int.from_bytes(order.pack(kind, order.decode(type_name, raw)), "little")
    size = 8 * order.SIZES[kind]
    bits -= (bits >> (size - 1)) << size
    return bits ^ (2**(size - 1) - 1) if bits < 0 else bits


def number_of(origin, count, terms, places):
    """The settled number of terms in units of 2^-places."""
    total = truth.total(terms)
    plus, minus = total != total or total == math.inf, total != total or total == -math.inf
    only_minus_zeros = bool(terms) and all(t.negative and t.size == 0 for t in terms)
    evidence = [int(plus), int(minus), int(only_minus_zeros), int(bool(terms) and not only_minus_zeros)]
    return Number(origin, evidence, limbs_of(0 if plus or minus else int(total) << (-origin - places), count))


def of_values(op, type_name, x, y=None, nan="propagate"):
    """The node of values, made without a limb being added to."""
    has_keys, first, _ = PARTS[op]
    values = truth.present(type_name, nan, *(v for v in (x, y) if v is not None))
    terms, places = [truth.term(type_name, raw) for raw, *_ in values], truth.scale(type_name)
    keys = ()
    if has_keys:
        nans = any(order.is_nan(type_name, raw) for (raw,) in values)
        every = [key(type_name, raw) for (raw,) in values]
        keys = (-2**63, 2**63 - 1) if nans else (min(every, default=NO_LOW), max(every, default=NO_HIGH))
    numbers = {}
    for name, (origin, count) in shape(op, type_name).items():
        if name == "sum":
            added = [truth.Term(False, t.size) for t in terms] if first == "size" else terms
            numbers[name] = number_of(origin, count, added, places)
        else:
            seconds = [truth.term(type_name, v[1]) for v in values] if y is not None else terms
            numbers[name] = number_of(origin, count, [a * b for a, b in zip(terms, seconds)], 2 * places)
    return Node(len(values), keys, numbers)


# ---- to results ----


def value_of_key(type_name, key):
    kind = truth.natural(type_name)
    size = 8 * order.SIZES[kind]
    return order.decode(kind, (key ^ (2**(size - 1) - 1) if key < 0 else key) % 2**size)


def spread(node, ddof, out, root=False):
    """(n squares - sum^2) / (n (n - ddof))"""
    squares, total = (node.numbers[name].total() for name in ("products", "sum"))
    if node.n <= ddof or squares != squares or squares == math.inf:
        return truth.special(out, math.nan)
    above = node.n * int(squares) - int(total)**2
    return truth.rounded(out, above, -node.numbers["products"].origin, node.n * (node.n - ddof), root)


def finish(op, type_name, ddof, node, out=None):
    """The bytes of the result."""
    node, out = parse(op, type_name, node), out or truth.natural(type_name)
    if op in ("var", "std"):
        raw = spread(node, ddof, out, op == "std")
    elif op == "stats":
        sum_, n, narrow, nan = node.numbers["sum"], node.n, truth.natural(type_name), float("nan")
        empty = n == 0 or node.keys[0] == -2**63
        words = [nan if empty else value_of_key(type_name, key) for key in node.keys]
        words.append(order.decode(narrow, truth.rounded(narrow, sum_.total(), -sum_.origin)))
        words.append(order.decode("f64", truth.rounded("f64", sum_.total(), -sum_.origin, n)) if n else nan)
        words.append(order.decode("f64", spread(node, ddof, "f64")))
        return order.pack("i64", n) + b"".join(order.pack("f64", float(word)) for word in words)
    else:
        (number,) = node.numbers.values()
        count = node.n if op == "mean" else 1
        raw = truth.rounded(out, number.total() if count else math.nan, -number.origin, count, root=op == "norm2")
    return raw.to_bytes(order.SIZES[out], "little")

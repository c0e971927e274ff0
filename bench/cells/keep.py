"""What was made and may be wanted again, up to a number of bytes; what was used least recently goes first."""

import collections


class Kept:
    def __init__(self, most):
        self.most, self.sizes, self.things = most, {}, collections.OrderedDict()

    def get(self, key, make, size):
        """size: of the thing in bytes, given it."""
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        thing = make()
        self.sizes[key], self.things[key] = size(thing), thing
        while sum(self.sizes.values()) > self.most and len(self.things) > 1:
            old, _ = self.things.popitem(last=False)
            del self.sizes[old]
        return thing

"""XXH3, 64 bits, for inputs over 128 bytes: what ends a saved state. After doc/xxhash_spec.md of Cyan4973/xxHash."""
import struct

MASK = 2**64 - 1
P32 = [0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D]
P64 = [0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]
SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1c ded46de9839097db7240a4a4b7b3671f cb79e64eccc0e578825ad07dccff7221
    b8084674f743248ee03590e6813a264c 3c2852bb91c300cb88d0658b1b532ea3 71644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d 8a51e04bcdb45931c89f7ec9d9787364 eac5ac8334d3ebc3c581a0fffa1363eb
    170ddd51b7f0da49d316552629d4689e 2b16be587d47a1fc8ff8b8d17ad031ce 45cb3a8f95160428afd7fbcabb4b407e""")


def words(data, at, count):
    return struct.unpack_from(f"<{count}Q", data, at)


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def mix(data, at, secret):
    (a, b), (s, t) = words(data, at, 2), words(SECRET, secret, 2)
    return fold(a ^ s, b ^ t)


def medium(data):
    """129 to 240 bytes."""
    h = len(data) * P64[0]
    h = avalanche((h + sum(mix(data, 16 * i, 16 * i) for i in range(8))) & MASK)
    h += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, len(data) // 16))
    return avalanche((h + mix(data, len(data) - 16, 136 - 17)) & MASK)


def accumulate(lanes, data, at, secret):
    for i, (value, key) in enumerate(zip(words(data, at, 8), words(SECRET, secret, 8))):
        lanes[i ^ 1] = lanes[i ^ 1] + value & MASK
        value ^= key
        lanes[i] = lanes[i] + (value & 0xFFFFFFFF) * (value >> 32) & MASK


def long(data):
    lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    stripes = (len(data) - 1) // 64
    for stripe in range(stripes):
        accumulate(lanes, data, 64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            for i, key in enumerate(words(SECRET, 128, 8)):
                lanes[i] = ((lanes[i] ^ lanes[i] >> 47) ^ key) * P32[0] & MASK
    accumulate(lanes, data, len(data) - 64, 128 - 7)
    keys = words(SECRET, 11, 8)
    h = len(data) * P64[0] + sum(fold(lanes[i] ^ keys[i], lanes[i + 1] ^ keys[i + 1]) for i in range(0, 8, 2))
    return avalanche(h & MASK)


def xxh3(data):
    if len(data) <= 128:
        raise ValueError("only what is longer than 128 bytes is hashed here")
    return medium(data) if len(data) <= 240 else long(data)

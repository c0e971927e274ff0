/* Made by tools/generate.sh: an operator, the hash of its results, the hash of its saved states. A row changes only
 * with the canonical order or the layout of states. */
{"sum", 0x706263e5cfe15798, 0x6ee820d54cc30e99}, {"prod", 0xa5e3ad1534291e01, 0x831d8052fcb06256},
    {"min", 0xd11cfcc6f7d3f899, 0xb152900ce1c2587a}, {"max", 0x96bd21ae3bb37bed, 0x4e160cc97ddaac6c},
    {"argmin", 0x8d9e225b89c102c, 0x7a7216eb00eb1510}, {"argmax", 0xc6215d7487e603b6, 0x9291aa67d83f3d3e},
    {"minmax", 0x5c3dd420bebdae12, 0xddaaab52b39cb9e}, {"any", 0x1d0d6bdfc6727422, 0xcbdfefca57fcdcf},
    {"all", 0x1c43a4ec1b0bf0ea, 0x11c2a2bc871a6555}, {"count", 0x50d28d81bc3bd83d, 0xc584579553411eea},
    {"and", 0xbe00f966ea27ccd0, 0xebe6115936824cec}, {"or", 0xa5c2d0566497af7d, 0xd42ebc1985f0f13c},
    {"xor", 0x5a5f71214f30bd39, 0x343a8e51909cebe5}, {"mean", 0xc89d8874900584aa, 0xb171693f1f1ac44c},
    {"var", 0xbe0f9896b2779583, 0x115d80ca7ffc7d2a}, {"std", 0x66ebc399294929ae, 0xc3f49992cffd79f4},
    {"stats", 0xc94bc2ab59307bee, 0xd5b3bb0aad1ee9a5}, {"norm1", 0xa04a76a5ab9b6d4c, 0xaf33b28965310136},
    {"norm2", 0x181333b1feab2191, 0x9caf6dedb21a16ca}, {"norminf", 0xb92f6688235b99d2, 0x5cbafc809abc97ab},
    {"sumsq", 0x6456f64de0b301eb, 0x7b75ba9e154843d9}, {"logsumexp", 0xeb3213f6e8fd4a84, 0x4017dc34df14a94b},
    {"dot", 0x6456f64de0b301eb, 0xeb8c7356c21a29cc},

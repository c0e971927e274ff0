#include "formats/numbers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are copied by their low bytes");

static const struct {
    const char *name;
    size_t size;
    int class;
} types[TALLY_TYPE_END] = {
#define TALLY_ROW(id, name, numpy, bytes, class) [TALLY_##id] = {#name, bytes, class},
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};

static bool known(tally_type type) { return type > TALLY_NATURAL && type < TALLY_TYPE_END; }

size_t type_size(tally_type type) { return known(type) ? types[type].size : 0; }

int type_class(tally_type type) { return known(type) ? types[type].class : 0; }

const char *type_name(tally_type type) { return known(type) && types[type].name != NULL ? types[type].name : "record"; }

/* ---- floats of 16 bits ---- */

/* How the bits of a float type are divided, and how many digits it takes to write it. `sure` digits of any decimal
 * survive the type; `most` digits always suffice. */
typedef struct float_layout {
    int exponent_bits, fraction_bits, sure, most;
} float_layout;

static float_layout layout_of(tally_type type) {
    switch (type) {
    case TALLY_F16: return (float_layout){5, 10, 3, 5};
    case TALLY_BF16: return (float_layout){8, 7, 2, 4};
    case TALLY_F32: return (float_layout){8, 23, 6, 9};
    default: return (float_layout){11, 52, 15, 17};
    }
}

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double widen_short(uint16_t bits, float_layout layout) {
    int bias = (1 << (layout.exponent_bits - 1)) - 1;
    int exponent = (bits >> layout.fraction_bits) & ((1 << layout.exponent_bits) - 1);
    int fraction = bits & ((1 << layout.fraction_bits) - 1);
    double magnitude;
    if (exponent == (1 << layout.exponent_bits) - 1) {
        magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        magnitude = fraction * power_of_two(1 - bias - layout.fraction_bits);
    } else {
        magnitude = (fraction + (1 << layout.fraction_bits)) * power_of_two(exponent - bias - layout.fraction_bits);
    }
    return bits >> 15 ? -magnitude : magnitude;
}

/* The magnitude in units of the type's last place, rounded to nearest; a tie goes where `lean` points (up, down, or 0
 * for even), because a tie of doubles may stand for a decimal a little to one side. */
static uint64_t round_significand(uint64_t significand, int shift, int lean) {
    if (shift >= 54) {
        return 0;
    }
    uint64_t kept = significand >> shift;
    uint64_t rest = significand - (kept << shift);
    uint64_t half = (uint64_t)1 << (shift - 1);
    bool tie_up = lean > 0 || (lean == 0 && (kept & 1) != 0);
    return kept + (rest > half || (rest == half && tie_up));
}

static uint16_t narrow_to_short(double value, float_layout layout, int lean) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint64_t infinity = (((uint64_t)1 << layout.exponent_bits) - 1) << layout.fraction_bits;
    int field = (int)(bits >> 52 & 0x7ff);
    if (field == 0x7ff) {
        uint64_t quiet = isnan(value) ? (uint64_t)1 << (layout.fraction_bits - 1) : 0;
        return (uint16_t)(sign | infinity | quiet);
    }
    if (field == 0) {
        return sign;
    }
    int least = 2 - (1 << (layout.exponent_bits - 1));
    int exponent = field - 1023;
    int place = exponent > least ? exponent : least;
    uint64_t significand = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    uint64_t code = round_significand(significand, 52 - layout.fraction_bits + place - exponent, lean);
    code += (uint64_t)(place - least) << layout.fraction_bits;
    return (uint16_t)(sign | (code < infinity ? code : infinity));
}

double float_value(tally_type type, const void *value) {
    uint16_t bits;
    float single;
    double wide;
    switch (type) {
    case TALLY_F16:
    case TALLY_BF16: memcpy(&bits, value, sizeof bits); return widen_short(bits, layout_of(type));
    case TALLY_F32: memcpy(&single, value, sizeof single); return (double)single;
    default: memcpy(&wide, value, sizeof wide); return wide;
    }
}

static void store_leaning(double value, tally_type type, int lean, void *bits) {
    if (type == TALLY_F16 || type == TALLY_BF16) {
        uint16_t narrow = narrow_to_short(value, layout_of(type), lean);
        memcpy(bits, &narrow, sizeof narrow);
    } else if (type == TALLY_F32) {
        float single = (float)value;
        memcpy(bits, &single, sizeof single);
    } else {
        memcpy(bits, &value, sizeof value);
    }
}

void store_float(double value, tally_type type, void *bits) { store_leaning(value, type, 0, bits); }

/* ---- from text ---- */

static bool digit(char c) { return c >= '0' && c <= '9'; }

static bool same_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static bool scan_word(const char *text, size_t length, number *found) {
    found->named =
        same_word(text, length, "nan") || same_word(text, length, "inf") || same_word(text, length, "infinity");
    found->truth = same_word(text, length, "true") || same_word(text, length, "false");
    found->digits = same_word(text, length, "true");
    return found->named || found->truth;
}

/* Takes a run of digits into found and returns where it ends. */
static const char *scan_digits(const char *at, const char *end, bool after_point, number *found) {
    for (; at < end && digit(*at); at++) {
        uint64_t longer;
        if (__builtin_mul_overflow(found->digits, (uint64_t)10, &longer) ||
            __builtin_add_overflow(longer, (uint64_t)(*at - '0'), &longer)) {
            found->whole = false;
        } else {
            found->digits = longer;
        }
        found->exponent -= after_point;
    }
    return at;
}

/* The exponent behind an e; NULL if there is none. */
static const char *scan_exponent(const char *at, const char *end, number *found) {
    bool down = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !digit(*at)) {
        return NULL;
    }
    int exponent = 0;
    for (; at < end && digit(*at); at++) {
        exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
    }
    found->exponent += down ? -exponent : exponent;
    return at;
}

bool scan_number(const char *text, size_t length, number *found) {
    *found = (number){.text = text, .length = length, .integer = true, .whole = true};
    const char *at = text, *end = text + length;
    if (length == 0 || length > NUMBER_LENGTH_MAX) {
        return false;
    }
    found->negative = *at == '-';
    at += *at == '-' || *at == '+';
    const char *start = at;
    at = scan_digits(at, end, false, found);
    int64_t digits = at - start;
    if (at < end && *at == '.') {
        found->integer = false;
        const char *point = ++at;
        at = scan_digits(at, end, true, found);
        digits += at - point;
    }
    if (digits == 0) {
        found->integer = false;
        return at == start && scan_word(start, (size_t)(end - start), found);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        found->integer = false;
        at = scan_exponent(at + 1, end, found);
    }
    return at == end;
}

static void copy_text(const number *found, char text[NUMBER_LENGTH_MAX + 1]) {
    memcpy(text, found->text, found->length);
    text[found->length] = '\0';
}

static double read_double(const number *found) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /* Digits and power are both exact doubles, so that one operation rounds once (Clinger 1990). */
    bool exact = found->whole && !found->named && !found->truth && found->digits <= (uint64_t)1 << 53 &&
                 found->exponent >= -22 && found->exponent <= 22 && FLT_EVAL_METHOD == 0;
    if (exact) {
        double magnitude = (double)found->digits;
        magnitude = found->exponent < 0 ? magnitude / powers[-found->exponent] : magnitude * powers[found->exponent];
        return found->negative ? -magnitude : magnitude;
    }
    char text[NUMBER_LENGTH_MAX + 1];
    copy_text(found, text);
    return strtod(text, NULL);
}

/* The digits of a decimal without leading and trailing zeros, and the power of ten of the first one. */
static long plain_digits(const char *text, char *digits) {
    long exponent = -1;
    size_t count = 0;
    bool after_point = false;
    for (; *text != '\0' && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            after_point = true;
        } else if (digit(*text)) {
            bool leading = count == 0 && *text == '0';
            exponent += leading ? -(long)after_point : (long)!after_point;
            if (!leading) {
                digits[count++] = *text;
            }
        }
    }
    while (count > 0 && digits[count - 1] == '0') {
        count--;
    }
    digits[count] = '\0';
    return exponent + (*text != '\0' ? strtol(text + 1, NULL, 10) : 0);
}

/* On which side of the double read from it a decimal lies: -1 nearer zero, 0 on it, 1 farther. */
static int side_of_double(const number *found, double value) {
    char text[NUMBER_LENGTH_MAX + 1], left[NUMBER_LENGTH_MAX + 1], exact[1200], right[1200];
    copy_text(found, text);
    snprintf(exact, sizeof exact, "%.1100e", value);
    long left_exponent = plain_digits(text, left);
    long right_exponent = plain_digits(exact, right);
    if (left_exponent != right_exponent) {
        return left_exponent < right_exponent ? -1 : 1;
    }
    int order = strcmp(left, right);
    return (order > 0) - (order < 0);
}

static number_verdict store_as_float(const number *found, tally_type type, void *value) {
    if (type == TALLY_F32) {
        char text[NUMBER_LENGTH_MAX + 1];
        copy_text(found, text);
        float single = found->truth ? (float)found->digits : strtof(text, NULL);
        memcpy(value, &single, sizeof single);
    } else {
        double wide = found->truth ? (double)found->digits : read_double(found);
        bool narrow = type != TALLY_F64 && !found->named && wide != 0 && !isinf(wide);
        store_leaning(wide, type, narrow ? side_of_double(found, wide) : 0, value);
    }
    return !found->named && isinf(float_value(type, value)) ? NUMBER_BEYOND : NUMBER_FINE;
}

static number_verdict store_as_integer(const number *found, tally_type type, void *value) {
    if (!found->integer && !(found->truth && type == TALLY_BOOL)) {
        return NUMBER_NOT_INTEGER;
    }
    unsigned bits = (unsigned)(8 * type_size(type));
    bool is_signed = type_class(type) == TALLY_CLASS_INT;
    uint64_t most = type == TALLY_BOOL ? 1 : UINT64_MAX >> (64 - bits + is_signed);
    uint64_t limit = found->negative ? (is_signed ? most + 1 : 0) : most;
    if (!found->whole || found->digits > limit) {
        return NUMBER_BEYOND;
    }
    uint64_t stored = found->negative ? ~found->digits + 1 : found->digits;
    switch (type_size(type)) {
    case 1: memcpy(value, &(uint8_t){(uint8_t)stored}, 1); break;
    case 2: memcpy(value, &(uint16_t){(uint16_t)stored}, 2); break;
    case 4: memcpy(value, &(uint32_t){(uint32_t)stored}, 4); break;
    default: memcpy(value, &stored, 8); break;
    }
    return NUMBER_FINE;
}

number_verdict store_number(const number *found, tally_type type, void *value) {
    return type_class(type) == TALLY_CLASS_FLOAT ? store_as_float(found, type, value)
                                                 : store_as_integer(found, type, value);
}

/* ---- to text ---- */

static bool reads_back(const char *text, tally_type type, const void *value) {
    number found;
    unsigned char again[8];
    return scan_number(text, strlen(text), &found) && store_number(&found, type, again) == NUMBER_FINE &&
           memcmp(again, value, type_size(type)) == 0;
}

/* Adds one to the last digit of d.ddde+xx. False: that would carry into the exponent. */
static bool next_decimal(char *text) {
    for (char *at = strchr(text, 'e') - 1; at >= text && *at != '-'; at--) {
        if (*at == '9') {
            *at = '0';
        } else if (*at != '.') {
            (*at)++;
            return true;
        }
    }
    return false;
}

/* The value as d.ddde+xx with the fewest digits that read back. Where the spacing of floats changes (powers of two) the
 * nearest decimal may miss while the one above hits, so that both are tried. */
static void fewest_digits(double magnitude, tally_type type, const void *bits, char *text) {
    float_layout layout = layout_of(type);
    double least_normal = power_of_two(2 - (1 << (layout.exponent_bits - 1)));
    for (int digits = magnitude < least_normal ? 1 : layout.sure; digits < layout.most; digits++) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*e", digits - 1, magnitude);
        if (reads_back(text, type, bits) || (next_decimal(text) && reads_back(text, type, bits))) {
            return;
        }
    }
    snprintf(text, NUMBER_TEXT_SIZE, "%.*e", layout.most - 1, magnitude);
}

/* Sets digits out as people write them: without exponent where the point is near. Returns the length. */
static size_t lay_out(const char *digits, int count, int exponent, char *text) {
    if (exponent >= 0 && exponent < 17) {
        int before = exponent + 1;
        int zeros = before > count ? before - count : 0;
        int length = sprintf(text, "%.*s%.*s", before, digits, zeros, "0000000000000000");
        return (size_t)(count > before ? length + sprintf(text + length, ".%s", digits + before) : length);
    }
    if (exponent < 0 && exponent >= -5) {
        return (size_t)sprintf(text, "0.%.*s%s", -exponent - 1, "0000", digits);
    }
    return (size_t)sprintf(text, count > 1 ? "%c.%se%+03d" : "%c%se%+03d", digits[0], digits + 1, exponent);
}

static size_t print_float(tally_type type, const void *value, char *text) {
    double wide = float_value(type, value);
    if (isnan(wide)) {
        return (size_t)sprintf(text, "nan");
    }
    size_t sign = signbit(wide) ? 1 : 0;
    text[0] = '-';
    if (isinf(wide) || wide == 0) {
        return sign + (size_t)sprintf(text + sign, isinf(wide) ? "inf" : "0");
    }
    unsigned char magnitude[8];
    store_float(signbit(wide) ? -wide : wide, type, magnitude);
    char scientific[NUMBER_TEXT_SIZE], digits[NUMBER_TEXT_SIZE];
    fewest_digits(float_value(type, magnitude), type, magnitude, scientific);
    plain_digits(scientific, digits);
    int exponent = atoi(strchr(scientific, 'e') + 1);
    return sign + lay_out(digits, (int)strlen(digits), exponent, text + sign);
}

size_t print_number(tally_type type, const void *value, char *text) {
    int64_t integer = 0;
    uint64_t natural = 0;
    switch (type) {
    case TALLY_BOOL: return (size_t)sprintf(text, "%s", *(const unsigned char *)value != 0 ? "true" : "false");
    case TALLY_I8: integer = *(const int8_t *)value; break;
    case TALLY_I16: integer = *(const int16_t *)memcpy(&(int16_t){0}, value, 2); break;
    case TALLY_I32: integer = *(const int32_t *)memcpy(&(int32_t){0}, value, 4); break;
    case TALLY_I64: memcpy(&integer, value, 8); break;
    case TALLY_U8:
    case TALLY_U16:
    case TALLY_U32:
    case TALLY_U64: memcpy(&natural, value, type_size(type)); return (size_t)sprintf(text, "%" PRIu64, natural);
    default: return print_float(type, value, text);
    }
    return (size_t)sprintf(text, "%" PRId64, integer);
}

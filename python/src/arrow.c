/* Arrow arrays, by the PyCapsule interface: numbers where they lie, bools from their bits, and lists, whose offsets are
 * segments of their values. */
#include "arrow.h"

#include "python.h"

static bool wrong(const char *name, const char *sentence) {
    PyErr_Format(PyExc_TypeError, "%s: %s", name, sentence);
    return false;
}

static bool bit_of(const void *bits, int64_t k) { return ((const unsigned char *)bits)[k / 8] >> k % 8 & 1; }

static bool has_nulls(const arrow_array *it) {
    if (it->nulls >= 0 || !it->buffers[0]) return it->nulls > 0;
    for (int64_t k = 0; k < it->length; k++)
        if (!bit_of(it->buffers[0], it->offset + k)) return true;
    return false;
}

/* What every array must be, that has `buffers` buffers and `children` children. */
static bool check(const arrow_array *it, const arrow_schema *schema, int buffers, int children, const char *name) {
    int64_t end;
    if (it->buffers_count != buffers || it->children_count != children || schema->children_count != children ||
        it->length < 0 || it->offset < 0 || __builtin_add_overflow(it->length, it->offset, &end) || end == INT64_MAX ||
        (it->length > 0 && !it->buffers[buffers - 1]))
        return wrong(name, "its Arrow array is invalid");
    if (has_nulls(it)) {
        PyErr_Format(PyExc_ValueError, "%s has nulls; drop or fill them first: x.drop_null(), x.fill_null(0)", name);
        return false;
    }
    return true;
}

/* Bools are bits: they become bytes. */
static bool take_bits(array *it, const arrow_array *from, const char *name) {
    char *bytes = PyMem_Malloc((size_t)from->length + 1);
    if (!bytes) return PyErr_NoMemory() != NULL;
    it->converted = (int64_t *)(void *)bytes;
    for (int64_t k = 0; k < from->length; k++) bytes[k] = bit_of(from->buffers[1], from->offset + k);
    it->data = bytes;
    it->read_only = true;
    return count_values(it, name);
}

static bool take_numbers(array *it, const arrow_array *from, const arrow_schema *schema, const char *name) {
    static const struct {
        char format;
        tally_type type;
    } types[] = {{'b', TALLY_BOOL}, {'c', TALLY_I8},  {'C', TALLY_U8},  {'s', TALLY_I16},
                 {'S', TALLY_U16},  {'i', TALLY_I32}, {'I', TALLY_U32}, {'l', TALLY_I64},
                 {'L', TALLY_U64},  {'e', TALLY_F16}, {'f', TALLY_F32}, {'g', TALLY_F64}};
    const char *format = schema->format;
    it->type = TALLY_NATURAL;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (format && format[0] == types[k].format && !format[1]) it->type = types[k].type;
    if (it->type == TALLY_NATURAL || schema->dictionary) {
        PyErr_Format(PyExc_TypeError,
                     "%s: Arrow values of format '%s' are not supported; bool, integers, floats and lists of them are",
                     name,
                     schema->dictionary ? "dictionary"
                     : format           ? format
                                        : "");
        return false;
    }
    if (!check(from, schema, 2, 0, name)) return false;
    it->axes = 1;
    it->device = HOST;
    it->read_only = true;
    it->item = it->strides[0] = (int64_t)tally_type_size(it->type);
    it->shape[0] = from->length;
    if (it->type == TALLY_BOOL) return take_bits(it, from, name);
    it->data = from->length ? (char *)(uintptr_t)from->buffers[1] + from->offset * it->item : NULL;
    return count_values(it, name);
}

/* Lists of 32-bit (+l) or 64-bit (+L) offsets. */
static bool take_lists(array *it, const arrow_array *from, const arrow_schema *schema, const char *name) {
    static const int64_t none = 0;
    if (!check(from, schema, 2, 1, name) || !take_numbers(it, from->children[0], schema->children[0], name))
        return false;
    it->lists_type = schema->format[1] == 'l' ? TALLY_I32 : TALLY_I64;
    it->lists_count = from->length;
    it->lists = from->length ? (const char *)from->buffers[1] + from->offset * (int64_t)tally_type_size(it->lists_type)
                             : (const char *)&none;
    return true;
}

static bool take_array(array *it, PyObject *schema_capsule, PyObject *array_capsule, const char *name) {
    if (!PyCapsule_IsValid(schema_capsule, "arrow_schema") || !PyCapsule_IsValid(array_capsule, "arrow_array"))
        return wrong(name, "__arrow_c_array__() must give capsules of a schema and an array");
    const arrow_schema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    const arrow_array *from = PyCapsule_GetPointer(array_capsule, "arrow_array");
    if (!schema->release || !from->release) return wrong(name, "its Arrow array has been given back");
    const char *format = schema->format;
    if (format && (!strcmp(format, "+l") || !strcmp(format, "+L"))) return take_lists(it, from, schema, name);
    return take_numbers(it, from, schema, name);
}

bool open_arrow(array *it, PyObject *object, const char *name) {
    PyObject *pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
    if (!pair) return false;
    Py_XDECREF(it->substitute);
    it->substitute = pair; /* the capsules give the array back when they go */
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return wrong(name, "__arrow_c_array__() must give a pair of capsules");
    return take_array(it, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), name);
}

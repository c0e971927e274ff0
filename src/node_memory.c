/* Memory for nodes on a GPU, for callers that do not use CUDA themselves. */
#include "gpu_nodes.h"
#include "tally/tally_nodes.h"

/* A problem of which only the options are of interest. */
static tally__spec options_of(const tally_context *context) {
    const tally_context *c = tally__context(context);
    return (tally__spec){.options = c->options, .allocator = c->allocator, .context = c, .inputs = 1};
}

tally_status tally_open_node_memory(const tally_context *context, const void *beside, size_t bytes, void **memory) {
    TALLY_CHECK(memory != NULL, BAD_ARGUMENT, "tally_open_node_memory needs a place for the address");
    *memory = NULL;
    const tally__spec spec = options_of(context);
    const tally__backend *gpu = tally__far_backend_of(&spec.options, beside);
    return gpu == NULL ? TALLY_OK : gpu->nodes->allocate(&spec, beside, bytes, memory);
}

tally_status tally_await_nodes(const tally_context *context, const void *nodes) {
    const tally__spec spec = options_of(context);
    const tally__backend *gpu = tally__far_backend_of(&spec.options, nodes);
    return gpu == NULL ? TALLY_OK : gpu->nodes->wait(&spec, nodes);
}

tally_status tally_close_node_memory(const tally_context *context, void *memory) {
    const tally__spec spec = options_of(context);
    if (memory == NULL) return TALLY_OK;
    const tally__backend *gpu = tally__far_backend_of(&spec.options, memory);
    TALLY_CHECK(gpu != NULL, BAD_ARGUMENT, "this is no memory of a GPU of the context's");
    return gpu->nodes->release(&spec, memory);
}

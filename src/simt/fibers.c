/* Fibers, after QEMU's coroutine-ucontext.c: mapped stacks with a guard page, kept when they end, and the sanitizers
 * told of every switch. The switch itself is a page of assembly on x86-64 and AArch64 (makecontext elsewhere):
 * swapcontext asks the kernel for the signal mask, which costs twenty times as much. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt/fibers.h"
#include "simt/sanitizers.h"

#if defined(__ELF__) && (defined(__x86_64__) && !defined(__ILP32__) || defined(__aarch64__)) && \
    !defined(TALLY_FIBER_UCONTEXT)
#define TALLY_FIBER_ASM 1
#else
#include <ucontext.h>
#endif

enum {
#if defined(TALLY_SIMT_ASAN) || defined(TALLY_SIMT_TSAN)
    STACK_BYTES = 256 << 10, /* frames are larger with the address sanitizer */
#else
    STACK_BYTES = 64 << 10,
#endif
    /* Stacks that all began at the same place of a page would compete for the same few cache lines. */
    LINE = 64,
    COLOURS = 61
};

struct tally__fiber {
#ifdef TALLY_FIBER_ASM
    void *stack; /* its stack pointer, while another runs */
#else
    ucontext_t context;
#endif
    void (*body)(void);
    tally__fiber *next;  /* in the list of those that can be used again */
    const char *bottom;  /* its stack: the lowest address, */
    size_t bytes;        /* and how many bytes */
    void *fake, *thread; /* what the address and the thread sanitizer know it by */
};

static tally__fiber *pool, host, *arriving, *leaving;
static unsigned made;

#ifdef TALLY_FIBER_ASM
/* Saves what the calling convention has callees keep, and goes where `to` was saved. */
void tally__fiber_swap(void **from, void *to);
#ifdef __x86_64__
__asm__(".text\n"
        ".globl tally__fiber_swap\n"
        ".hidden tally__fiber_swap\n"
        ".type tally__fiber_swap, @function\n"
        ".p2align 4\n"
        "tally__fiber_swap:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    pop %rcx\n"
        "    jmp *%rcx\n"
        ".size tally__fiber_swap, .-tally__fiber_swap\n");
enum { SAVED_WORDS = 8, RETURN_WORD = 6 }; /* as many as keep the stack aligned as after a call */
#else
__asm__(".text\n"
        ".globl tally__fiber_swap\n"
        ".hidden tally__fiber_swap\n"
        ".type tally__fiber_swap, %function\n"
        ".p2align 4\n"
        "tally__fiber_swap:\n"
        "    stp x19, x20, [sp, #-160]!\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x19, x20, [sp], #160\n"
        "    ret\n"
        ".size tally__fiber_swap, .-tally__fiber_swap\n");
enum { SAVED_WORDS = 20, RETURN_WORD = 11 };
#endif
__asm__(".section .note.GNU-stack,\"\",%progbits\n.text\n");
#endif

/* Tells the sanitizers that a switch has arrived here. */
static void arrive(tally__fiber *self) {
#ifdef TALLY_SIMT_ASAN
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake, &bottom, &bytes);
    leaving->bottom = bottom; /* news for the host alone */
    leaving->bytes = bytes;
#else
    (void)self;
#endif
}

static void start(void) {
    tally__fiber *self = arriving;
    arrive(self);
    for (;;) self->body();
}

/* Makes the fiber run start() on an empty stack when it is switched to. */
static void reset(tally__fiber *fiber) {
    uintptr_t top = (uintptr_t)fiber->bottom + fiber->bytes;
    TALLY_SHOW(fiber->bottom, fiber->bytes);
#ifdef TALLY_FIBER_ASM
    void **words = (void **)(top / 16 * 16) - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS; i++) words[i] = NULL; /* 0: debuggers stop at a frame without a caller */
    words[RETURN_WORD] = (void *)(uintptr_t)start;
    fiber->stack = words;
#else
    (void)top;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = (void *)(uintptr_t)fiber->bottom;
    fiber->context.uc_stack.ss_size = fiber->bytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, start, 0);
#endif
    fiber->fake = NULL;
#ifdef TALLY_SIMT_TSAN
    if (fiber->thread != NULL) { /* all it did was before what comes now */
        __tsan_switch_to_fiber(fiber->thread, 0);
        __tsan_switch_to_fiber(host.thread, 0);
        __tsan_destroy_fiber(fiber->thread);
    }
    fiber->thread = __tsan_create_fiber(0);
#endif
}

/* Guard page, stack, and the fiber itself at the end of one mapping. */
static tally__fiber *make(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), colour = made % COLOURS * LINE;
    size_t bytes = (STACK_BYTES + COLOURS * LINE + sizeof(tally__fiber) + page - 1) / page * page;
    char *memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tally__fiber *fiber;
    if (memory == MAP_FAILED) return NULL;
    if (mprotect(memory, page, PROT_NONE) != 0) {
        munmap(memory, page + bytes);
        return NULL;
    }
    fiber = (tally__fiber *)(void *)(memory + page + (bytes - sizeof *fiber - colour) / LINE * LINE);
    fiber->bottom = memory + page;
    fiber->bytes = (size_t)((char *)fiber - fiber->bottom);
    made++;
    reset(fiber);
    return fiber;
}

tally__fiber *tally__fiber_take(void (*body)(void)) {
    tally__fiber *fiber = pool != NULL ? pool : make();
    if (fiber == NULL) return NULL;
    if (fiber == pool) pool = fiber->next;
    fiber->body = body;
    return fiber;
}

void tally__fiber_give(tally__fiber *fiber, bool ended) {
    if (!ended) reset(fiber);
    fiber->next = pool;
    pool = fiber;
}

tally__fiber *tally__fiber_host(void) {
#ifdef TALLY_SIMT_TSAN
    host.thread = __tsan_get_current_fiber();
#endif
    return &host;
}

void tally__fiber_switch(tally__fiber *from, tally__fiber *to) {
    leaving = from;
    arriving = to;
#ifdef TALLY_SIMT_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bytes);
#endif
#ifdef TALLY_SIMT_TSAN
    __tsan_switch_to_fiber(to->thread, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef TALLY_FIBER_ASM
    tally__fiber_swap(&from->stack, to->stack);
#else
    swapcontext(&from->context, &to->context);
#endif
    arrive(from);
}

// Structures and codes shared with who launches kernels: toolchains/child/shims/simt/abi.py.
#pragma once

struct SimtLaunch {
    unsigned long long next, blocks;
    unsigned grid[3], block[3];
    unsigned long long dynamic_shared;
    void **params, **globals;
    long long status;
    unsigned long long detail[6];
    unsigned long long stop;
    void *hooks;
};

struct SimtWorker {
    char *shared;
    unsigned long long shared_bytes;
    char *spill;
    unsigned long long spill_bytes;
    char *stacks;
    unsigned long long stack_bytes, index;
};

enum { SIMT_CLAIMED = -1, SIMT_OK, SIMT_STOPPED, SIMT_TRAPPED, SIMT_DIVERGENT, SIMT_DEADLOCK,
       SIMT_MASK, SIMT_STACK = 9 };

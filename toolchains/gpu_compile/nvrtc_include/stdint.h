// Fixed-width integers. NVRTC has no C library; these are libcu++'s, with 64 bits as long long.
#pragma once
#include <cuda/std/cstdint>

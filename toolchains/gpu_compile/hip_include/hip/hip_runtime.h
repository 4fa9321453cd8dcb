// What kernels use of HIP's run-time header, for AMDGPU and without AMD's device libraries.
// Functions that those libraries (ocml) would supply are declared in amdgpu/missing_math.h.
#pragma once

#include "amdgpu/attributes.h"
#include "amdgpu/vectors.h"
#include "amdgpu/threads.h"
#include "amdgpu/memory_order.h"
#include "amdgpu/warp.h"
#include "amdgpu/atomics.h"
#include "amdgpu/bits.h"
#include "amdgpu/conversions.h"
#include "amdgpu/device_math.h"
#include "amdgpu/missing_math.h"
#include "amdgpu/output.h"
#include "amdgpu/host_api.h"

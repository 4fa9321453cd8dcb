#pragma once
#include "hip_runtime.h"

#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_nanf("")
#define HIP_PI_F 3.141592654f
#define HIP_INF __builtin_inf()
#define HIP_NAN __builtin_nan("")
#define HIP_PI 3.1415926535897931

// printf is built into NVRTC.
#pragma once
#include "stddef.h"

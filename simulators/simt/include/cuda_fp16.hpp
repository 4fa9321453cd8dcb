#pragma once
#include "simt/half.h"

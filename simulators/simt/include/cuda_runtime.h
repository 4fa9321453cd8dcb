#pragma once
#include "simt/prelude.h"

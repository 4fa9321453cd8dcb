#pragma once
#include "../simt/collectives.h"

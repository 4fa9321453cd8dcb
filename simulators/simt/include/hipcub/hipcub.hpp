#pragma once
#include "../simt/collectives.h"
namespace hipcub = cub;

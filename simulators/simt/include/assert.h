// The prelude defines assert().
#include "simt/prelude.h"

// Names that nvcc has from <sys/types.h>, which its prelude includes, and that public kernels use.
#pragma once
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;

// printf of device code is in the prelude; the rest is for host code, which is only read.
#pragma once
#include <stddef.h>
typedef struct simt_file FILE;
extern "C" {
int printf(const char *, ...);
int fprintf(FILE *, const char *, ...);
int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
int puts(const char *);
FILE *fopen(const char *, const char *);
int fclose(FILE *);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int fflush(FILE *);
extern FILE *stdin, *stdout, *stderr;
}

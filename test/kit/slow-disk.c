/* Preloaded into a server, it makes each write to the disk wait as many milliseconds as the file SLOW_DISK says; none where it says nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void drag(void) {
  const char *path = getenv("SLOW_DISK");
  FILE *file = path ? fopen(path, "r") : NULL;
  int ms = 0;
  if (!file) return;
  if (fscanf(file, "%d", &ms) == 1 && ms > 0) usleep(1000 * ms);
  fclose(file);
}

int fsync(int fd) {
  drag();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  drag();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

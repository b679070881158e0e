/* A server's clock that can be set: so many ns are added to it as the file that STEPPED_CLOCK names has in its first 8 bytes.
   Programs in Go do not ask libc for the time. So the functions of the kernel's own library are changed (the vDSO), which all of them
   ask in the end. What counts from the start of the machine (CLOCK_MONOTONIC) stays as it is, as when an operator sets the clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile const int64_t *ahead;

/* Not `syscall`: it writes errno, which belongs to a thread of libc, and a thread of Go is none. */
static long ask(long number, long first, long second) {
#if defined(__x86_64__)
  long answer;
  __asm__ volatile("syscall" : "=a"(answer) : "0"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
  return answer;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = first;
  register long x1 __asm__("x1") = second;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
  return x0;
#endif
}

static void add(struct timespec *time, int64_t ns) {
  int64_t sum = time->tv_sec * SECOND + time->tv_nsec + ns;
  time->tv_sec = sum / SECOND;
  time->tv_nsec = sum % SECOND;
}

static long stepped_clock_gettime(clockid_t id, struct timespec *time) {
  long answer = ask(SYS_clock_gettime, id, (long)time);
  if (answer == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) add(time, *ahead);
  return answer;
}

static long stepped_gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  (void)zone;
  stepped_clock_gettime(CLOCK_REALTIME, &now);
  if (time) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

static time_t stepped_time(time_t *time) {
  struct timespec now;
  stepped_clock_gettime(CLOCK_REALTIME, &now);
  if (time) *time = now.tv_sec;
  return now.tv_sec;
}

/* A wait until a time of that clock, which the kernel compares with its own. A small time is one of the other clock. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!wait) wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec real = *until;
  if (until->tv_sec > SECOND) add(&real, -*ahead);
  return wait(cond, mutex, &real);
}

static void fail(const char *what) {
  fprintf(stderr, "stepped clock: %s\n", what);
  _exit(97);
}

static void divert(void *vdso, const char *name, const void *to) {
  uint8_t *from = dlsym(vdso, name);
  if (!from) return;
  long size = sysconf(_SC_PAGESIZE);
  void *page = (void *)((uintptr_t)from & -size);
#if defined(__x86_64__)
  uint8_t jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax, to; jmp rax */
  memcpy(jump + 2, &to, sizeof to);
#elif defined(__aarch64__)
  uint8_t jump[] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0}; /* ldr x16, to; br x16 */
  memcpy(jump + 8, &to, sizeof to);
#endif
  if (mprotect(page, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC)) fail("the kernel does not let its vDSO be changed");
  memcpy(from, jump, sizeof jump);
  __builtin___clear_cache((char *)from, (char *)from + sizeof jump);
  mprotect(page, 2 * size, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void begin(void) {
  const char *says = getenv("STEPPED_CLOCK");
  int file = says ? open(says, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) fail("no file says how far");
  ahead = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (ahead == MAP_FAILED) fail("the file cannot be mapped");
  void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!vdso) fail("there is no vDSO");
  divert(vdso, "__vdso_clock_gettime", stepped_clock_gettime);
  divert(vdso, "__vdso_gettimeofday", stepped_gettimeofday);
  divert(vdso, "__vdso_time", stepped_time);
  divert(vdso, "__kernel_clock_gettime", stepped_clock_gettime);
  divert(vdso, "__kernel_gettimeofday", stepped_gettimeofday);
}

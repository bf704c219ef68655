/*
 * A stand-in for NVIDIA's pyxis, which cannot be had from a package registry: a SPANK plugin with pyxis' option names. An
 * image NAME is the folder /home/images/NAME (':', '/' and '#' as '_'): its files over the node's own /usr, and nothing else
 * of the node but /proc, /dev, /sys, the mounts that are asked for, and the home folder where that is asked for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

SPANK_PLUGIN(containers, 1)

#define ROOT "/run/containers-root"

static char image[256], mounts[4096];
static int has_home, is_writable;

static int take(int which, const char *value, int remote) {
  (void)remote;
  switch (which) {
    case 0: snprintf(image, sizeof image, "%s", value); break;
    case 1: snprintf(mounts, sizeof mounts, "%s", value); break;
    case 2: has_home = 1; break;
    case 3: is_writable = 1; break;
    default: break;
  }
  return ESPANK_SUCCESS;
}

static struct spank_option options[] = {
    {"container-image", "[USER@][REGISTRY#]IMAGE[:TAG]", "the image to run in", 1, 0, take},
    {"container-mounts", "SRC:DST[:FLAGS],...", "more of the node inside", 1, 1, take},
    {"container-mount-home", NULL, "the home folder inside", 0, 2, take},
    {"container-writable", NULL, "the image can be written", 0, 3, take},
    {"no-container-remap-root", NULL, "be oneself inside", 0, 4, take},
    SPANK_OPTIONS_TABLE_END};

int slurm_spank_init(spank_t spank, int count, char **words) {
  (void)count, (void)words;
  for (struct spank_option *each = options; each->name; each++)
    if (spank_option_register(spank, each) != ESPANK_SUCCESS) return -1;
  return 0;
}

static int failed(const char *what, const char *path) {
  slurm_error("pyxis: %s %s: %s", what, path, strerror(errno));
  return -1;
}

static void folders(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(path, 0755);
    *slash = '/';
  }
  mkdir(path, 0755);
}

static int shown(const char *source, const char *target, int is_read_only) {
  char inside[4096 + sizeof ROOT];
  struct stat seen;
  if (stat(source, &seen)) return failed("no such mount", source);
  snprintf(inside, sizeof inside, ROOT "%s", target);
  folders(inside);
  if (mount(source, inside, NULL, MS_BIND | MS_REC, NULL)) return failed("cannot mount", source);
  if (is_read_only && mount(NULL, inside, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL)) return failed("cannot protect", source);
  return 0;
}

int slurm_spank_task_init_privileged(spank_t spank, int count, char **words) {
  (void)count, (void)words;
  if (!*image) return 0;
  char folder[512], command[2048];
  snprintf(folder, sizeof folder, "/home/images/%s", image);
  for (char *each = folder + strlen("/home/images/"); *each; each++)
    if (strchr(":/#", *each)) *each = '_';
  struct stat seen;
  if (stat(folder, &seen)) {
    slurm_error("pyxis: failed to import docker image: %s", image);
    return -1;
  }
  mode_t mask = umask(022);
  uid_t uid;
  spank_get_item(spank, S_JOB_UID, &uid);
  mkdir(ROOT, 0755);
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return failed("cannot unshare", "mounts");
  if (mount("tmpfs", ROOT, "tmpfs", 0, "mode=755")) return failed("cannot mount", ROOT);
  snprintf(command, sizeof command, "cp -a %s/. " ROOT "/ && cd " ROOT " && ln -s usr/bin usr/sbin usr/lib usr/lib64 . && chown -hR %u .", folder, uid);
  if (system(command)) return failed("cannot unpack", image);
  const char *always[] = {"/usr", "/proc", "/dev", "/sys"};
  for (int i = 0; i < 4; i++)
    if (shown(always[i], always[i], i == 0)) return -1;
  struct passwd *person = getpwuid(uid);
  if (has_home && person && shown(person->pw_dir, person->pw_dir, 0)) return -1;
  char all[sizeof mounts], *rest = all;
  snprintf(all, sizeof all, "%s", mounts);
  for (char *each; (each = strsep(&rest, ","));) {
    char *source = strsep(&each, ":"), *target = strsep(&each, ":");
    if (*source && shown(source, target ? target : source, each && strstr(each, "ro"))) return -1;
  }
  if (!is_writable && mount(NULL, ROOT, NULL, MS_REMOUNT | MS_RDONLY, NULL)) return failed("cannot protect", ROOT);
  if (chroot(ROOT) || chdir("/")) return failed("cannot enter", image);
  umask(mask);
  return 0;
}

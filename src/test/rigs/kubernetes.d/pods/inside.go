package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// inside is the first process of a container: it makes its root around itself and becomes what was wished for.
func inside(place string) error {
	var wished wish
	if err := json.NewDecoder(os.Stdin).Decode(&wished); err != nil {
		return err
	}
	root := filepath.Join(place, "root")
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", wished.Image, place, place)
	for _, step := range []func() error{
		func() error { return syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, "") },
		func() error { return syscall.Mount("pod", place, "tmpfs", 0, "mode=755") },
		func() error { return folders(place, "root", "upper", "work") },
		func() error { return syscall.Mount("pod", root, "overlay", 0, layers) },
		func() error { return syscall.Mount("proc", filepath.Join(root, "proc"), "proc", 0, "") },
		func() error { return syscall.Mount("sys", filepath.Join(root, "sys"), "sysfs", syscall.MS_RDONLY, "") },
		func() error { return devices(filepath.Join(root, "dev")) },
		func() error { return volumes(root, wished) },
		func() error { return syscall.Sethostname([]byte(wished.Host)) },
		func() error { return syscall.Chdir(root) },
		func() error { return syscall.PivotRoot(".", ".") },
		func() error { return syscall.Unmount(".", syscall.MNT_DETACH) },
		func() error { return syscall.Chdir("/") },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("the root of %s: %w", wished.Host, err)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	if err := syscall.Dup2(int(null.Fd()), 0); err != nil {
		return err
	}
	os.Setenv("PATH", path[len("PATH="):])
	program, err := exec.LookPath(wished.Command[0])
	if err != nil {
		return err
	}
	return syscall.Exec(program, wished.Command, wished.Env)
}

func folders(in string, names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(in, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func devices(folder string) error {
	if err := syscall.Mount("dev", folder, "tmpfs", syscall.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	if err := folders(folder, "shm", "pts"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		target := filepath.Join(folder, name)
		if err := os.WriteFile(target, nil, 0o666); err != nil {
			return err
		}
		if err := syscall.Mount("/dev/"+name, target, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return syscall.Mount("pts", filepath.Join(folder, "pts"), "devpts", 0, "newinstance,ptmxmode=0666,mode=0620")
}

func volumes(root string, wished wish) error {
	for _, folder := range wished.Empty {
		target := filepath.Join(root, folder)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount("volume", target, "tmpfs", 0, "mode=1777"); err != nil {
			return err
		}
	}
	for name, bytes := range wished.Files {
		if err := os.WriteFile(filepath.Join(root, name), bytes, 0o444); err != nil {
			return err
		}
	}
	names := fmt.Sprintf("search %s\nnameserver 10.99.0.1\noptions ndots:5\n", wished.Search)
	resolv := filepath.Join(root, "etc/resolv.conf")
	os.Remove(resolv)
	return os.WriteFile(resolv, []byte(names), 0o644)
}

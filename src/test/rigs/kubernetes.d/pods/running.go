package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// A pod whose container this program runs until its end channel is closed.
type running struct {
	cluster *cluster
	pod     *pod
	end     chan struct{}

	lock sync.Mutex
	pid  int
}

// What the process in the container's namespaces needs to know.
type wish struct {
	Image, Place, Host, Search string
	Empty                      []string
	Files                      map[string][]byte
	Command, Env               []string
}

// tell writes one line for whoever measures: the time, the pod, and a word.
func (r *running) tell(word string) {
	fmt.Printf("%.3f %s/%s %s\n", float64(time.Now().UnixMicro())/1e6, r.pod.Metadata.Namespace, r.pod.Metadata.Name, word)
}

func (r *running) live() {
	r.tell("running")
	wished, err := r.wish()
	for err == nil {
		var status int
		if status, err = r.once(wished); err != nil {
			break
		}
		select {
		case <-r.end:
			return
		default:
		}
		if status == 0 {
			r.cluster.succeeded(r.pod)
			<-r.end
			return
		}
		time.Sleep(time.Second)
	}
	log.Print(r.pod.Metadata.Name, ": ", err)
}

func (r *running) wish() (*wish, error) {
	pod, first := r.pod, r.pod.Spec.Containers[0]
	made := &wish{
		Image: r.cluster.image, Place: filepath.Join(r.cluster.place, pod.Metadata.UID), Host: pod.Spec.Hostname,
		Search:  pod.Metadata.Namespace + ".svc.cluster.local svc.cluster.local cluster.local",
		Files:   map[string][]byte{},
		Command: append(first.Command, first.Args...), Env: r.env(),
	}
	if made.Host == "" {
		made.Host = pod.Metadata.Name
	}
	for _, mount := range first.VolumeMounts {
		made.Empty = append(made.Empty, mount.MountPath)
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name || volume.Secret == nil {
				continue
			}
			var secret struct{ Data map[string][]byte }
			if err := r.cluster.read("/api/v1/namespaces/"+pod.Metadata.Namespace+"/secrets/"+volume.Secret.SecretName, &secret); err != nil {
				return nil, err
			}
			for name, bytes := range secret.Data {
				made.Files[filepath.Join(mount.MountPath, name)] = bytes
			}
		}
	}
	return made, nil
}

func (r *running) env() []string {
	env := []string{path, "HOME=/root", "HOSTNAME=" + r.pod.Spec.Hostname}
	if index, isThere := r.pod.Metadata.Annotations["batch.kubernetes.io/job-completion-index"]; isThere {
		env = append(env, "JOB_COMPLETION_INDEX="+index)
	}
	for _, variable := range r.pod.Spec.Containers[0].Env {
		if variable.Value != "" {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	return env
}

// once runs the container from its beginning to its end.
func (r *running) once(wished *wish) (int, error) {
	text, err := json.Marshal(wished)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(wished.Place, 0o700); err != nil {
		return 0, err
	}
	defer os.Remove(wished.Place)
	// Not on the command line: a Secret may be longer than one word of it can be.
	reader, writer, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	command := exec.Command("/proc/self/exe", "inside", wished.Place)
	command.Stdin, command.Stderr = reader, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS}
	said, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := command.Start(); err != nil {
		return 0, err
	}
	reader.Close()
	writer.Write(text)
	writer.Close()
	r.set(command.Process.Pid)
	defer r.set(0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewReader(said)
		if _, err := lines.ReadString('\n'); err == nil {
			r.tell("speaks")
		}
		io.Copy(io.Discard, lines)
		command.Wait()
	}()
	select {
	case <-ended:
	case <-r.end:
		command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(grace):
			command.Process.Kill()
			<-ended
		}
	}
	return command.ProcessState.ExitCode(), nil
}

func (r *running) set(pid int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.pid = pid
}

// ExecInContainer runs a command beside what runs there already.
func (r *running) ExecInContainer(_ context.Context, _, _, _ string, words []string, in io.Reader, out, errors_ io.WriteCloser,
	tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	r.lock.Lock()
	pid := r.pid
	r.lock.Unlock()
	if pid == 0 || tty || len(words) == 0 {
		return errors.New("no container, or no command, or one with a terminal")
	}
	command := exec.Command("nsenter", append([]string{"-t", strconv.Itoa(pid), "-m", "-u", "-p", "--"}, words...)...)
	command.Env = r.env()
	if out != nil {
		command.Stdout = out
	}
	if errors_ != nil {
		command.Stderr = errors_
	}
	if in != nil {
		input, err := command.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(input, in)
			input.Close()
		}()
	}
	var ended *exec.ExitError
	err := command.Run()
	if errors.As(err, &ended) {
		return utilexec.ExitErrorWrapper{ExitError: ended}
	}
	return err
}

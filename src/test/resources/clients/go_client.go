// What a program that uses Go's x/crypto/ssh and pkg/sftp does with a node: commands, a terminal, many sessions at
// once, forwards both ways, sftp.
//
//	go_client PORT USER KEY HOST_KEY.pub
//
// Prints "all" at the end; anything else is a failure.
package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func holds(is bool, what string) {
	if !is {
		panic(what)
	}
}

func dial() *ssh.Client {
	pem, err := os.ReadFile(os.Args[3])
	check(err)
	signer, err := ssh.ParsePrivateKey(pem)
	check(err)
	line, err := os.ReadFile(os.Args[4])
	check(err)
	host, _, _, _, err := ssh.ParseAuthorizedKey(line)
	check(err)
	client, err := ssh.Dial("tcp", "127.0.0.1:"+os.Args[1], &ssh.ClientConfig{
		User: os.Args[2],
		Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		// With several host keys, Go would take one that is not known.
		HostKeyAlgorithms: []string{host.Type()},
		HostKeyCallback:   ssh.FixedHostKey(host),
	})
	check(err)
	return client
}

func session(client *ssh.Client) *ssh.Session {
	made, err := client.NewSession()
	check(err)
	return made
}

func commands(client *ssh.Client) {
	var out, errs bytes.Buffer
	one := session(client)
	one.Stdout, one.Stderr = &out, &errs
	var exit *ssh.ExitError
	holds(errors.As(one.Run("echo out; echo err >&2; exit 7"), &exit) && exit.ExitStatus() == 7, "status 7")
	holds(out.String() == "out\n" && errs.String() == "err\n", "streams apart")
	holds(errors.As(session(client).Run("kill -TERM $$"), &exit) && exit.Signal() == "TERM", "the signal")

	terminal := session(client)
	check(terminal.RequestPty("xterm", 40, 100, ssh.TerminalModes{ssh.ECHO: 0}))
	size, err := terminal.Output("stty size")
	check(err)
	holds(strings.TrimSpace(string(size)) == "40 100", "size of the terminal")
}

func many(client *ssh.Client) {
	data := make([]byte, 1<<20)
	_, err := rand.Read(data)
	check(err)
	var all sync.WaitGroup
	for i := 0; i < 40; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			one := session(client)
			one.Stdin = bytes.NewReader(data)
			back, err := one.Output("cat")
			check(err)
			holds(bytes.Equal(back, data), "40 times cat")
		}()
	}
	all.Wait()
}

func forwards(client *ssh.Client) {
	listener, err := client.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		one, err := listener.Accept()
		check(err)
		_, err = io.Copy(one, one)
		check(err)
		check(one.Close())
	}()
	connection, err := client.Dial("tcp", listener.Addr().String())
	check(err)
	_, err = connection.Write([]byte("there and back"))
	check(err)
	check(connection.(interface{ CloseWrite() error }).CloseWrite())
	back, err := io.ReadAll(connection)
	check(err)
	holds(string(back) == "there and back", "a port there and back")
	check(listener.Close())
	_, err = client.Dial("tcp", net.JoinHostPort("127.0.0.1", "1"))
	var refused *ssh.OpenChannelError
	holds(errors.As(err, &refused) && refused.Reason == ssh.ConnectionFailed, "a port where nothing listens")
}

func files(client *ssh.Client) {
	where, err := session(client).Output("mktemp -d")
	check(err)
	folder := strings.TrimSpace(string(where))
	data := make([]byte, 8<<20)
	_, err = rand.Read(data)
	check(err)
	server, err := sftp.NewClient(client, sftp.UseConcurrentWrites(true))
	check(err)
	file, err := server.Create(folder + "/data")
	check(err)
	_, err = io.Copy(file, bytes.NewReader(data))
	check(err)
	check(file.Close())
	check(server.PosixRename(folder+"/data", folder+"/moved"))
	facts, err := server.Stat(folder + "/moved")
	check(err)
	holds(facts.Size() == int64(len(data)), "size of a file")
	file, err = server.Open(folder + "/moved")
	check(err)
	back, err := io.ReadAll(file)
	check(err)
	holds(bytes.Equal(back, data), "a file there and back")
	check(server.RemoveAll(folder))
}

func main() {
	client := dial()
	commands(client)
	many(client)
	forwards(client)
	files(client)
	check(client.Close())
	fmt.Println("all")
}

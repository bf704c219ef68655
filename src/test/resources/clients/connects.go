// Connects many times, four clients at once, each with one command: what a monitoring tool or an editor in a loop does
// to a gateway.
//
//	connects PORT USER KEY HOST_KEY.pub COUNT
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	pem, err := os.ReadFile(os.Args[3])
	check(err)
	signer, err := ssh.ParsePrivateKey(pem)
	check(err)
	line, err := os.ReadFile(os.Args[4])
	check(err)
	host, _, _, _, err := ssh.ParseAuthorizedKey(line)
	check(err)
	count, err := strconv.Atoi(os.Args[5])
	check(err)
	config := &ssh.ClientConfig{
		User:              os.Args[2],
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyAlgorithms: []string{host.Type()},
		HostKeyCallback:   ssh.FixedHostKey(host),
	}
	numbers := make(chan int)
	var workers sync.WaitGroup
	for i := 0; i < 4; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for number := range numbers {
				client, err := ssh.Dial("tcp", "127.0.0.1:"+os.Args[1], config)
				check(err)
				session, err := client.NewSession()
				check(err)
				out, err := session.Output(fmt.Sprintf("echo %d", number))
				check(err)
				if string(out) != fmt.Sprintf("%d\n", number) {
					panic(string(out))
				}
				check(client.Close())
			}
		}()
	}
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	workers.Wait()
	fmt.Println("all")
}

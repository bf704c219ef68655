// The containers of pods on nodes that kwok only pretends: it says of every pod that it runs, and this program makes that true.
// It starts what the pod's first container wants in a root, mounts, processes and a host name of its own, from the folder of one
// image, and it is what the API server reaches at the address of those nodes' kubelets when somebody runs a command in a pod.
// What is not there: networks of their own, limits, probes, terminals, and any container but the first.
//
// usage: pods PKI IMAGE PLACE ADDRESS, with the folder of the rig's keys, of an image, for pods' roots, and HOST:PORT to listen at
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

func main() {
	if os.Args[1] == "inside" {
		log.Fatal(inside(os.Args[2]))
	}
	pki, address := os.Args[1], os.Args[4]
	trusted := x509.NewCertPool()
	authority, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil || !trusted.AppendCertsFromPEM(authority) {
		log.Fatal("ca.crt: ", err)
	}
	own := pair(pki, "pods-serving")
	admin := pair(pki, "admin")
	cluster := &cluster{
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{admin}}}},
		image: os.Args[2], place: os.Args[3],
		pods: map[string]*running{},
	}
	go cluster.follow()
	server := &http.Server{
		Addr:      address,
		Handler:   http.HandlerFunc(cluster.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert},
		// A connection that becomes a stream of another protocol cannot be HTTP/2.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	log.Fatal(server.ListenAndServeTLS("", ""))
}

func pair(pki, name string) tls.Certificate {
	both, err := tls.LoadX509KeyPair(filepath.Join(pki, name+".crt"), filepath.Join(pki, name+".key"))
	if err != nil {
		log.Fatal(err)
	}
	return both
}

// serve answers /exec/NAMESPACE/POD/CONTAINER as a kubelet does.
func (c *cluster) serve(to http.ResponseWriter, asked *http.Request) {
	parts := strings.Split(strings.TrimPrefix(asked.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "exec" {
		http.Error(to, "this is no kubelet: it knows exec alone", http.StatusNotFound)
		return
	}
	options, err := remotecommand.NewOptions(asked)
	if err != nil {
		http.Error(to, err.Error(), http.StatusBadRequest)
		return
	}
	pod := c.find(parts[1], parts[2])
	if pod == nil {
		http.Error(to, fmt.Sprintf("pod %s/%s does not run here", parts[1], parts[2]), http.StatusNotFound)
		return
	}
	remotecommand.ServeExec(to, asked, pod, parts[2], "", parts[3], asked.Form["command"], options, streamIdle, streamBegin,
		remotecommand.SupportedStreamingProtocols)
}

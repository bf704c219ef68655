package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"time"
)

const (
	server      = "https://10.99.0.1:6443"
	streamIdle  = 4 * time.Hour
	streamBegin = 30 * time.Second
	again       = 200 * time.Millisecond
	grace       = 2 * time.Second
)

// What is read of a pod.
type pod struct {
	Metadata struct {
		Name, Namespace, UID string
		Annotations          map[string]string
	}
	Spec struct {
		NodeName, Hostname, Subdomain string
		Volumes                       []struct {
			Name   string
			Secret *struct{ SecretName string }
		}
		Containers []struct {
			Name          string
			Command, Args []string
			Env           []struct{ Name, Value string }
			VolumeMounts  []struct{ Name, MountPath string }
		}
	}
	Status struct{ Phase string }
}

type cluster struct {
	client       *http.Client
	image, place string

	lock sync.Mutex
	pods map[string]*running // by uid
}

func (c *cluster) ask(method, path string, body io.Reader) (*http.Response, error) {
	question, err := http.NewRequest(method, server+path, body)
	if err != nil {
		return nil, err
	}
	question.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := c.client.Do(question)
	if err == nil && answer.StatusCode >= 300 {
		answer.Body.Close()
		return nil, fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	return answer, err
}

func (c *cluster) read(path string, into any) error {
	answer, err := c.ask("GET", path, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// follow does what the pods of the cluster want, for ever.
func (c *cluster) follow() {
	for {
		if err := c.look(); err != nil {
			log.Print(err)
		}
		time.Sleep(again)
	}
}

func (c *cluster) look() error {
	var all struct {
		Metadata struct{ ResourceVersion string }
		Items    []*pod
	}
	if err := c.read("/api/v1/pods", &all); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, each := range all.Items {
		there[each.Metadata.UID] = true
		c.see(each)
	}
	for uid := range c.known() {
		if !there[uid] {
			c.forget(uid)
		}
	}
	answer, err := c.ask("GET", "/api/v1/pods?watch=true&resourceVersion="+all.Metadata.ResourceVersion, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for events := json.NewDecoder(answer.Body); ; {
		var event struct {
			Type   string
			Object *pod
		}
		if err := events.Decode(&event); err != nil {
			return err
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			c.see(event.Object)
		case "DELETED":
			c.forget(event.Object.Metadata.UID)
		default:
			return fmt.Errorf("the watch says %s", event.Type)
		}
	}
}

func (c *cluster) known() map[string]*running {
	c.lock.Lock()
	defer c.lock.Unlock()
	copied := map[string]*running{}
	for uid, each := range c.pods {
		copied[uid] = each
	}
	return copied
}

func (c *cluster) find(namespace, name string) *running {
	for _, each := range c.known() {
		if each.pod.Metadata.Namespace == namespace && each.pod.Metadata.Name == name {
			return each
		}
	}
	return nil
}

func (c *cluster) see(seen *pod) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if seen.Status.Phase != "Running" || c.pods[seen.Metadata.UID] != nil {
		return
	}
	made := &running{cluster: c, pod: seen, end: make(chan struct{})}
	c.pods[seen.Metadata.UID] = made
	go made.live()
}

func (c *cluster) forget(uid string) {
	c.lock.Lock()
	gone := c.pods[uid]
	delete(c.pods, uid)
	c.lock.Unlock()
	if gone != nil {
		close(gone.end)
	}
}

// succeeded says what a kubelet says of a pod whose container has ended well.
func (c *cluster) succeeded(of *pod) {
	now := time.Now().UTC().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": "Succeeded",
		"containerStatuses": []any{map[string]any{
			"name": of.Spec.Containers[0].Name, "image": "", "imageID": "", "ready": false, "restartCount": 0,
			"state": map[string]any{"terminated": map[string]any{"exitCode": 0, "reason": "Completed", "finishedAt": now}}}}}})
	if err != nil {
		log.Fatal(err)
	}
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/status", of.Metadata.Namespace, of.Metadata.Name)
	if answer, err := c.ask("PATCH", path, bytes.NewReader(body)); err != nil {
		log.Print(err)
	} else {
		answer.Body.Close()
	}
}

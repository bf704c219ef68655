// A device plugin without devices: tells the kubelet of this node that there are so many of a resource, again whenever the
// kubelet begins anew. (Numbers written into the node's status by hand do not last.)
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	count int
}

func (*plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, to api.DevicePlugin_ListAndWatchServer) error {
	var all []*api.Device
	for number := range p.count {
		all = append(all, &api.Device{ID: fmt.Sprintf("GPU-%d", number), Health: api.Healthy})
	}
	if err := to.Send(&api.ListAndWatchResponse{Devices: all}); err != nil {
		return err
	}
	<-to.Context().Done()
	return nil
}

func (*plugin) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range asked.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")}})
	}
	return answer, nil
}

// usage: gpus FOLDER RESOURCE COUNT, where FOLDER is the kubelet's device-plugins
func main() {
	folder, resource := os.Args[1], os.Args[2]
	count, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	kubelet := filepath.Join(folder, "kubelet.sock")
	for {
		before, err := os.Stat(kubelet)
		if err == nil {
			err = serve(folder, kubelet, resource, count, before)
		}
		log.Print(err)
		time.Sleep(200 * time.Millisecond)
	}
}

// Until the kubelet's socket is another one: a new kubelet knows nothing of us.
func serve(folder, kubelet, resource string, count int, before os.FileInfo) error {
	own := filepath.Join(folder, "gpus.sock")
	os.Remove(own)
	listener, err := net.Listen("unix", own)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, &plugin{count: count})
	go server.Serve(listener)
	defer server.Stop()
	if err := register(kubelet, resource); err != nil {
		return err
	}
	for {
		time.Sleep(300 * time.Millisecond)
		now, err := os.Stat(kubelet)
		if err != nil || !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()) {
			return fmt.Errorf("another kubelet")
		}
		if _, err := os.Stat(own); err != nil {
			return err
		}
	}
}

func register(kubelet, resource string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = api.NewRegistrationClient(client).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: "gpus.sock", ResourceName: resource, Options: &api.DevicePluginOptions{}})
	return err
}

# clients: Go's x/crypto/ssh and pkg/sftp
needs_rig
cd "$rig/go"
says_all env GOFLAGS="-mod=mod -modcacherw" GOMODCACHE="$rig/go/modules" go run "$clients/go_client.go" "$(gateway)" devbox "$key" "$host_key"

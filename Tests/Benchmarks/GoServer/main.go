// A push endpoint as a team would write it with Go's own HTTP/2 server: reads the body, answers 200 with an apns-id. It checks
// no credential, decides nothing and keeps nothing. `goserver CERTIFICATE KEY` prints its port.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

func push(writer http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost || !strings.HasPrefix(request.URL.Path, "/3/device/") {
		http.NotFound(writer, request)
		return
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	writer.Header().Set("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b")
	writer.WriteHeader(http.StatusOK)
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: goserver CERTIFICATE KEY")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{
		Handler:   http.HandlerFunc(push),
		TLSConfig: &tls.Config{NextProtos: []string{"h2"}},
	}
	log.Fatal(server.ServeTLS(listener, os.Args[1], os.Args[2]))
}

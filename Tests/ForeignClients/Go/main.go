// Sends widget pushes with Go's own HTTP/2 client over one connection: so many at once, then so many a second. Prints their outcome as one
// JSON object.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// The outcome of pushes: how many were sent, and the faults of those that were not answered 200.
type tally struct {
	Sent  int            `json:"sent"`
	Lost  map[string]int `json:"lost"`
	mutex sync.Mutex
}

func (t *tally) add(fault string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.Sent++
	if fault != "" {
		t.Lost[fault]++
	}
}

// Pushes at once, well below the streams that the gateway takes: near that Go opens further connections.
const streams = 500

var (
	port    = flag.Int("port", 0, "")
	ca      = flag.String("ca", "", "")
	topic   = flag.String("topic", "", "")
	bearer  = flag.String("bearer", "", "")
	token   = flag.String("token", "", "")
	burst   = flag.Int("burst", 0, "")
	rate    = flag.Int("rate", 0, "")
	seconds = flag.Int("seconds", 0, "")
)

func main() {
	flag.Parse()
	pem, err := os.ReadFile(*ca)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{
		Timeout: 10 * time.Minute,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: true,
		},
	}
	url := fmt.Sprintf("https://localhost:%d/3/device/%s", *port, *token)
	push := func() string {
		request, err := http.NewRequest("POST", url, strings.NewReader(`{"aps":{"content-changed":true}}`))
		if err != nil {
			return err.Error()
		}
		request.Header.Set("authorization", "bearer "+*bearer)
		request.Header.Set("apns-topic", *topic)
		request.Header.Set("apns-push-type", "widgets")
		answer, err := client.Do(request)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return err.Error()
		}
		if answer.StatusCode != 200 {
			return answer.Status
		}
		return ""
	}
	// The connection is made by the first push; those beside it would make their own.
	first := push()
	slots := make(chan struct{}, streams)
	send := func(result *tally, all *sync.WaitGroup) {
		all.Add(1)
		slots <- struct{}{}
		go func() {
			defer all.Done()
			result.add(push())
			<-slots
		}()
	}

	var all sync.WaitGroup
	atOnce := &tally{Lost: map[string]int{}}
	atOnce.add(first)
	for number := 1; number < *burst; number++ {
		send(atOnce, &all)
	}
	all.Wait()

	// A client that cannot keep up is not waited for: pushes that are late are left out.
	steady := &tally{Lost: map[string]int{}}
	start := time.Now()
	end := start.Add(time.Duration(*seconds) * time.Second)
	for number := 0; number < *rate**seconds && time.Now().Before(end); number++ {
		time.Sleep(time.Until(start.Add(time.Duration(number) * time.Second / time.Duration(*rate))))
		send(steady, &all)
	}
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]*tally{"burst": atOnce, "steady": steady})
}

// Pushes to a widget as Go's APNs clients do: with net/http, and to Apple's host only. apple_only.go PROVIDER_TOKEN TOKEN
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(`{"aps": {"content-changed": true}}`)
	push, err := http.NewRequest("POST", "https://api.push.apple.com/3/device/"+os.Args[2], body)
	if err != nil {
		log.Fatal(err)
	}
	push.Header.Set("authorization", "bearer "+os.Args[1])
	push.Header.Set("apns-topic", "com.example.scores.push-type.widgets")
	push.Header.Set("apns-push-type", "widgets")
	answer, err := http.DefaultClient.Do(push)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	reason, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Proto, answer.StatusCode, string(reason))
}

// Sends a targeted push from Go without dependencies: sender KIND MATCH. Settings: GATEWAY, CA, APP, KEY, KID, TEAM.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

// mint makes a provider token. It is valid for an hour: a back end keeps it for 20 to 60 minutes.
func mint() string {
	text, err := os.ReadFile(os.Getenv("KEY"))
	block, _ := pem.Decode(text)
	if err != nil || block == nil {
		log.Fatal("KEY is no PEM file: ", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		log.Fatal(err)
	}
	code := base64.RawURLEncoding.EncodeToString
	input := code([]byte(fmt.Sprintf(`{"alg":"ES256","kid":%q}`, os.Getenv("KID")))) + "." +
		code([]byte(fmt.Sprintf(`{"iss":%q,"iat":%d}`, os.Getenv("TEAM"), time.Now().Unix())))
	hash := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), hash[:])
	if err != nil {
		log.Fatal(err)
	}
	return input + "." + code(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func main() {
	roots, _ := x509.SystemCertPool()
	if ca, err := os.ReadFile(os.Getenv("CA")); err == nil {
		roots.AppendCertsFromPEM(ca)
	}
	client := http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	// The push's id stays the same in every attempt, so that the push counts once.
	random := make([]byte, 16)
	rand.Read(random)
	id := fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
	body := fmt.Sprintf(`{"aps":{"content-changed":true},"freshet":{"kind":%q,"match":%s}}`, os.Args[1], os.Args[2])
	url := os.Getenv("GATEWAY") + "/v1/apps/" + os.Getenv("APP") + "/pushes"
	for attempt, token := 0, mint(); attempt < 60; attempt++ {
		request, err := http.NewRequest("POST", url, bytes.NewBufferString(body))
		if err != nil {
			log.Fatal(err)
		}
		request.Header = http.Header{"Authorization": {"bearer " + token}, "Apns-Id": {id}, "Apns-Priority": {"10"}}
		wait := 1 << min(attempt, 5)
		if answer, err := client.Do(request); err == nil {
			text, _ := io.ReadAll(answer.Body)
			switch answer.StatusCode {
			case 200:
				fmt.Println("accepted", id)
				return
			case 429, 500, 503:
				if seconds, err := strconv.Atoi(answer.Header.Get("retry-after")); err == nil {
					wait = seconds
				}
			default:
				log.Fatalf("refused %d %s", answer.StatusCode, text)
			}
		}
		time.Sleep(time.Duration(wait) * time.Second)
	}
	log.Fatal("the gateway does not answer")
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

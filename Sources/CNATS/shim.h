// The system's libnats (pkg-config name: libnats; Debian: libnats-dev).
//
// The functions below fill in structs that hold borrowed strings. In Swift, each string would take a closure.
#ifndef FRESHET_CNATS_SHIM_H
#define FRESHET_CNATS_SHIM_H

#include <nats/nats.h>
#include <string.h>

// The condition for a message to be stored.
enum {
    freshet_expect_nothing = 0,
    // The newest message with its subject has this sequence, 0 for none.
    freshet_expect_last_of_subject = 1,
    // The newest message that the stream ever had has this sequence, 0 for none.
    freshet_expect_last_of_stream = 2,
};

// The options of every connection.
static inline natsStatus freshet_nats_options(natsOptions **made) {
    natsOptions *options = NULL;
    natsStatus status = natsOptions_Create(&options);
    if (status == NATS_OK) status = natsOptions_SetName(options, "freshet");
    if (status == NATS_OK) status = natsOptions_SetTimeout(options, 2000);
    // For ever: giving up is left to the caller.
    if (status == NATS_OK) status = natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK) status = natsOptions_SetReconnectWait(options, 100);
    if (status == NATS_OK) status = natsOptions_SetReconnectJitter(options, 50, 50);
    // A request on a connection that is lost is known to be lost at once.
    if (status == NATS_OK) status = natsOptions_SetFailRequestsOnDisconnect(options, true);
    *made = options;
    return status;
}

static inline natsStatus freshet_js_publish(
    jsCtx *js, const char *subject, const void *bytes, int count, int expect, uint64_t expected, int64_t wait,
    uint64_t *sequence, jsErrCode *error
) {
    jsPubOptions options;
    jsPubAck *ack = NULL;
    natsStatus status = jsPubOptions_Init(&options);
    if (status != NATS_OK) return status;
    options.MaxWait = wait;
    // 0 would mean that nothing is expected, and ExpectNoMessage is about the subject.
    if (expect == freshet_expect_last_of_stream && expected == 0) {
        natsMsg *message = NULL;
        status = natsMsg_Create(&message, subject, NULL, bytes, count);
        if (status == NATS_OK) status = natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", "0");
        if (status == NATS_OK) status = js_PublishMsg(&ack, js, message, &options, error);
        natsMsg_Destroy(message);
    } else {
        options.ExpectNoMessage = expect == freshet_expect_last_of_subject && expected == 0;
        if (expect == freshet_expect_last_of_subject) options.ExpectLastSubjectSeq = expected;
        if (expect == freshet_expect_last_of_stream) options.ExpectLastSeq = expected;
        status = js_Publish(&ack, js, subject, bytes, count, &options, error);
    }
    if (status == NATS_OK) *sequence = ack->Sequence;
    jsPubAck_Destroy(ack);
    return status;
}

static inline natsStatus freshet_js_purge(
    jsCtx *js, const char *stream, const char *subject, uint64_t before, jsErrCode *error
) {
    jsOptions options;
    natsStatus status = jsOptions_Init(&options);
    if (status != NATS_OK) return status;
    options.Stream.Purge.Subject = subject;
    options.Stream.Purge.Sequence = before;
    return js_PurgeStream(js, stream, &options, error);
}

static inline natsStatus freshet_js_info(
    jsStreamInfo **info, jsCtx *js, const char *stream, const char *filter, jsErrCode *error
) {
    jsOptions options;
    natsStatus status = jsOptions_Init(&options);
    if (status != NATS_OK) return status;
    options.Stream.Info.SubjectsFilter = filter;
    return js_GetStreamInfo(info, js, stream, &options, error);
}

// A consumer of all messages from one on, in order.
static inline natsStatus freshet_js_follow(
    natsSubscription **subscription, jsCtx *js, const char *stream, const char *subject, uint64_t first,
    jsErrCode *error
) {
    jsSubOptions options;
    natsStatus status = jsSubOptions_Init(&options);
    if (status != NATS_OK) return status;
    options.Stream = stream;
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = first;
    return js_SubscribeSync(subscription, js, subject, NULL, &options, error);
}

// Sequence and time, in nanoseconds since 1970, of a message that a consumer gave.
static inline natsStatus freshet_msg_place(natsMsg *message, uint64_t *sequence, int64_t *time) {
    jsMsgMetaData *data = NULL;
    natsStatus status = natsMsg_GetMetaData(&data, message);
    if (status == NATS_OK) {
        *sequence = data->Sequence.Stream;
        *time = data->Timestamp;
    }
    jsMsgMetaData_Destroy(data);
    return status;
}

#endif

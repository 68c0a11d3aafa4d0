import Engine
import HostAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

@Suite struct SignalBodyTests {
    private static let host = HostKey("phone-17")
    private static let reload = ReloadID(
        partition: PartitionID(0),
        position: LogPosition(42),
        instance: 7,
        check: 0x0000_00AB
    )

    private static func read(_ text: String) throws -> (Record?, Problem?) {
        let value = try json(text)
        do throws(Problem) {
            return (try SignalBody.record(value, at: "signals[3]", host: Self.host), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test(
        arguments: [
            (#"{"signal":"appForeground"}"#, .appForeground), (#"{"signal":"appBackground"}"#, .appBackground),
            (#"{"signal":"mediaSession","state":"start"}"#, .sessionStarted(.media)),
            (#"{"signal":"mediaSession","state":"end"}"#, .sessionEnded(.media)),
            (#"{"signal":"navigationSession","state":"start"}"#, .sessionStarted(.navigation)),
            (#"{"signal":"locationSession","state":"end"}"#, .sessionEnded(.location)),
            (#"{"signal":"widgetVisible","instance":"a"}"#, .widgetVisible(InstanceID("a"))),
            (#"{"signal":"widgetHidden","instance":"a"}"#, .widgetHidden(InstanceID("a"))),
            (#"{"signal":"appIntent","instance":"a"}"#, .appIntent(InstanceID("a"))),
            (#"{"signal":"animation","instance":"a"}"#, .animation(InstanceID("a"))),
            (#"{"signal":"reloaded","instance":"a"}"#, .reloaded(InstanceID("a"))),
            (#"{"signal":"localeChanged"}"#, .systemChange(.locale)),
            (#"{"signal":"dynamicTypeChanged"}"#, .systemChange(.dynamicType)),
            (#"{"signal":"accessibilityChanged"}"#, .systemChange(.accessibility)),
            (#"{"signal":"appearanceChanged"}"#, .systemChange(.appearance)),
            (#"{"signal":"significantLocationChange"}"#, .significantLocationChange),
            (#"{"signal":"standBy","state":"on"}"#, .standBy(true)),
            (#"{"signal":"lowPower","state":"off"}"#, .lowPower(false)),
            (
                #"{"signal":"entryShown","reload":"0-42-7-000000ab","date":"2026-11-21T12:00:00Z"}"#,
                .entryShown(Self.reload, date: Instant(seconds: 1_795_262_400))
            ),
        ] as [(String, HostSignal.Event)]
    )
    func `what happened on the host becomes a signal`(text: String, event: HostSignal.Event) throws {
        #expect(try Self.read(text).0 == .signal(HostSignal(host: Self.host, event: event)))
    }

    @Test func `what became of a reload becomes a report`() throws {
        #expect(
            try Self.read(#"{"signal":"reloaded","reload":"0-42-7-000000ab"}"#).0
                == .delivery(DeliveryReport(host: Self.host, reload: Self.reload, result: .acknowledged))
        )
        #expect(
            try Self.read(#"{"signal":"refused","reload":"0-42-7-000000ab","reason":"low power"}"#).0
                == .delivery(
                    DeliveryReport(host: Self.host, reload: Self.reload, result: .refused(reason: "low power"))
                )
        )
    }

    @Test(
        arguments: [
            ("[]", Place(.badRequest, "signals[3]")),
            ("{}", Place(.badRequest, "signals[3].signal")),
            (#"{"signal":1}"#, Place(.badRequest, "signals[3].signal")),
            (#"{"signal":"blinked"}"#, Place(.notSupported, "signals[3].signal")),
            (#"{"signal":"standBy"}"#, Place(.badRequest, "signals[3].state")),
            (#"{"signal":"standBy","state":"start"}"#, Place(.badRequest, "signals[3].state")),
            (#"{"signal":"widgetVisible"}"#, Place(.badRequest, "signals[3].instance")),
            (#"{"signal":"widgetVisible","instance":""}"#, Place(.badRequest, "signals[3].instance")),
            (#"{"signal":"entryShown","reload":"0-42-7-000000ab"}"#, Place(.badRequest, "signals[3].date")),
            (#"{"signal":"appForeground","since":1}"#, Place(.badRequest, "signals[3].since")),
            (#"{"signal":"mediaSession"}"#, Place(.badRequest, "signals[3].state")),
            (#"{"signal":"mediaSession","state":"pause"}"#, Place(.badRequest, "signals[3].state")),
            (#"{"signal":"reloaded"}"#, Place(.badRequest, "signals[3].reload")),
            (#"{"signal":"reloaded","reload":"x"}"#, Place(.unknownReload, "signals[3].reload")),
            (#"{"signal":"reloaded","reload":"0-42-7-000000ab","at":1}"#, Place(.badRequest, "signals[3].at")),
        ] as [(String, Place)]
    )
    func `a fault names its place`(text: String, place: Place) throws {
        #expect(Place(try Self.read(text).1) == place)
    }

    @Test(arguments: [(255, true), (256, true), (257, false)])
    func `a reason has at most 256 bytes`(length: Int, isTaken: Bool) throws {
        let reason = String(repeating: "r", count: length)
        let text = #"{"signal":"refused","reload":"0-42-7-000000ab","reason":"\#(reason)"}"#
        #expect(Place(try Self.read(text).1) == (isTaken ? nil : Place(.badRequest, "signals[3].reason")))
    }

    @Test func `an acknowledgement of a back end may leave its name out and may be of any host`() throws {
        let value = try json(#"{"reload":"0-42-7-000000ab"}"#)
        #expect(try SignalBody.delivery(value, at: "line 1") == (Self.reload, .acknowledged))
        let other = try json(#"{"signal":"appForeground","reload":"0-42-7-000000ab"}"#)
        #expect(
            problem { () throws(Problem) in try SignalBody.delivery(other, at: "line 2").reload }
                == Problem(.badRequest, "expected \"reloaded\" or \"refused\"", path: "line 2.signal")
        )
    }
}

import Timelines
package import WidgetModel

/// The bytes of an answer to a record: a tag, and the case's values.
extension RecordAnswer.Result: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .settings(let orphaned): writer.write(tag: 0, orphaned)
        case .settingsTooNew(let version): writer.write(tag: 1, version)
        case .push(let matched, let isRepeat):
            writer.write(tag: 2, matched)
            writer.write(isRepeat)
        case .registered(let counts): writer.write(tag: 3, counts)
        case .staleRevision(let current): writer.write(tag: 4, current)
        case .refused(let error): writer.write(tag: 5, error)
        case .unregistered: writer.write(byte: 6)
        case .signalled: writer.write(byte: 7)
        case .timeline(let findings): writer.write(tag: 8, findings)
        case .timelineRefused(let fault): writer.write(tag: 9, fault)
        case .staleGeneration: writer.write(byte: 10)
        case .delivery(let known): writer.write(tag: 11, known)
        case .appReload(let matched): writer.write(tag: 12, matched)
        case .order(let matched): writer.write(tag: 13, matched)
        case .invalidated(let count): writer.write(tag: 14, count)
        case .channel(let answer): writer.write(tag: 15, answer)
        case .unknownHost: writer.write(byte: 16)
        case .unknownInstance: writer.write(byte: 17)
        case .unknownReload: writer.write(byte: 18)
        case .traced: writer.write(byte: 19)
        case .noted: writer.write(byte: 20)
        case .settingsOvertaken: writer.write(byte: 21)
        case .ticked: writer.write(byte: 22)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .settings(orphaned: try Int(from: &reader))
        case 1: self = .settingsTooNew(engineVersion: try Int(from: &reader))
        case 2: self = .push(matched: try Int(from: &reader), isRepeat: try reader.readBool())
        case 3: self = .registered(try RegistrationCounts(from: &reader))
        case 4: self = .staleRevision(current: try reader.readVarint())
        case 5: self = .refused(try RegistrationError(from: &reader))
        case 6: self = .unregistered
        case 7: self = .signalled
        case 8: self = .timeline(findings: try Array(from: &reader))
        case 9: self = .timelineRefused(try TimelineError(from: &reader))
        case 10: self = .staleGeneration
        case 11: self = .delivery(known: try reader.readBool())
        case 12: self = .appReload(matched: try Int(from: &reader))
        case 13: self = .order(matched: try Int(from: &reader))
        case 14: self = .invalidated(count: try Int(from: &reader))
        case 15: self = .channel(try ChannelAnswer(from: &reader))
        case 16: self = .unknownHost
        case 17: self = .unknownInstance
        case 18: self = .unknownReload
        case 19: self = .traced
        case 20: self = .noted
        case 21: self = .settingsOvertaken
        case 22: self = .ticked
        default: throw .invalid(offset: start)
        }
    }
}

extension RegistrationCounts: FieldCoded {
    package static let coding = Fields(Self.init, \.added, \.changed, \.unchanged, \.removed)
}

extension RegistrationError: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .unknownApp(let app): writer.write(tag: 0, app)
        case .unknownKind(let kind): writer.write(tag: 1, kind)
        case .configuration(let instance): writer.write(tag: 2, instance)
        case .duplicateInstance(let instance): writer.write(tag: 3, instance)
        case .duplicateToken(let instance): writer.write(tag: 4, instance)
        case .hostOfOtherTokens: writer.write(byte: 5)
        case .replacedTokenOfOther: writer.write(byte: 6)
        case .controlTokenOfOther(let instance): writer.write(tag: 7, instance)
        case .tokenOfAnotherApp: writer.write(byte: 8)
        case .tooManyInstances(let max): writer.write(tag: 9, max)
        case .tooManyTags(let instance, let max):
            writer.write(tag: 10, instance)
            max.encode(into: &writer)
        case .tooManyTombstones(let max, let until):
            writer.write(tag: 11, max)
            writer.write(until)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .unknownApp(try BundleID(from: &reader))
        case 1: self = .unknownKind(try WidgetKind(from: &reader))
        case 2: self = .configuration(try InstanceID(from: &reader))
        case 3: self = .duplicateInstance(try InstanceID(from: &reader))
        case 4: self = .duplicateToken(try InstanceID(from: &reader))
        case 5: self = .hostOfOtherTokens
        case 6: self = .replacedTokenOfOther
        case 7: self = .controlTokenOfOther(try InstanceID(from: &reader))
        case 8: self = .tokenOfAnotherApp
        case 9: self = .tooManyInstances(max: try Int(from: &reader))
        case 10: self = .tooManyTags(try InstanceID(from: &reader), max: try Int(from: &reader))
        case 11: self = .tooManyTombstones(max: try Int(from: &reader), until: try reader.readInstant())
        default: throw .invalid(offset: start)
        }
    }
}

extension ChannelAnswer: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .created: writer.write(byte: 0)
        case .deleted: writer.write(byte: 1)
        case .limit(let max): writer.write(tag: 2, max)
        case .alreadyExists: writer.write(byte: 3)
        case .unknown: writer.write(byte: 4)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .created
        case 1: self = .deleted
        case 2: self = .limit(try Int(from: &reader))
        case 3: self = .alreadyExists
        case 4: self = .unknown
        default: throw .invalid(offset: start)
        }
    }
}

// MARK: - Tokens

extension TokenRemoval: ByteCoded {}

extension DirectoryChange: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .bound(let token, let host, let instance):
            writer.write(tag: 0, token)
            host.encode(into: &writer)
            instance.encode(into: &writer)
        case .removed(let token, let app, let reason, let instant):
            writer.write(tag: 1, token)
            app.encode(into: &writer)
            reason.encode(into: &writer)
            writer.write(instant)
        case .forgotten(let token): writer.write(tag: 2, token)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0:
            self = .bound(
                try DeviceToken(from: &reader),
                host: try HostKey(from: &reader),
                instance: try InstanceID?(from: &reader)
            )
        case 1:
            self = .removed(
                try DeviceToken(from: &reader),
                app: try BundleID(from: &reader),
                try TokenRemoval(from: &reader),
                at: try reader.readInstant()
            )
        case 2: self = .forgotten(try DeviceToken(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

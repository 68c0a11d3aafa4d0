import FoundationEssentials
import Timelines

extension ConfigurationFile {
    /// The longest configuration file.
    package static let fileBytesMax = 4_194_304

    /// Reads a configuration file, looks at every file it names, and says which.
    ///
    /// - Parameters:
    ///   - path: The file, absolute or relative to the working directory.
    ///   - environment: The process's environment.
    ///   - options: Values by key path from the command line.
    /// - Throws: All faults, of the text and of the files that it names.
    package static func read(
        path: String,
        environment: [String: String],
        options: [(path: String, text: String)] = []
    ) throws(SettingsError) -> Parsed {
        let text: String
        switch self.contents(of: path, bytesMax: Self.fileBytesMax) {
        case .success(let read): text = read
        case .failure(let reason):
            let sentence = "\(reason.sentence); `freshet default-config` prints one to start from"
            throw SettingsError([SettingFault(place: .wholeFile(path), path: "", sentence: sentence)])
        }
        let process = FileManager.default.currentDirectoryPath
        let absolute = FileNameResolver.resolve(path, in: process)
        let folder = absolute.lastIndex(of: "/").map { String(absolute[..<$0]) } ?? process
        let folders = Folders(file: folder.isEmpty ? "/" : folder, process: process)
        let policies = try self.policies(of: text, name: path, in: folders.file)
        let parsed = try self.parse(
            text,
            name: path,
            environment: environment,
            options: options,
            folders: folders,
            policies: policies
        )
        var configuration = parsed.configuration
        let faults = parsed.files.compactMap { self.look(at: $0, for: &configuration) }
        guard faults.isEmpty else { throw SettingsError(faults) }
        return Parsed(configuration: configuration, files: parsed.files)
    }

    /// The policies in the files that a configuration's text names. Faults of the text itself are found later.
    private static func policies(
        of text: String,
        name: String,
        in folder: String
    ) throws(SettingsError) -> [BudgetPolicy] {
        var configuration = GatewayConfiguration()
        var yaml = ConfigurationText(text, name: name)
        var reader = SettingsReader(name: name)
        if let root = yaml.compose() { reader.read(root, into: &configuration) }
        var found: [BudgetPolicy] = []
        var faults: [SettingFault] = []
        for (index, file) in configuration.policyFiles.enumerated() {
            let key = "policyFiles[\(index)]"
            let place = reader.places.place(nearest: key)
            let resolved = FileNameResolver.resolve(file, in: folder)
            switch self.contents(of: resolved, bytesMax: PolicyFile.bytesMax) {
            case .failure(let reason):
                faults.append(SettingFault(place: place, path: key, sentence: "\(resolved) \(reason.sentence)"))
            case .success(let text):
                do throws(SettingsError) {
                    let policy = try PolicyFile.parse(text, name: resolved)
                    if BudgetPolicy.preset(named: policy.name) != nil
                        || found.contains(where: { $0.name == policy.name })
                    {
                        let name = policy.name.quotedForMessage
                        let sentence = "names its policy \(name), which is in use; choose another name"
                        faults.append(SettingFault(place: place, path: key, sentence: "\(resolved) \(sentence)"))
                    }
                    found.append(policy)
                } catch {
                    faults += error.faults
                }
            }
        }
        guard faults.isEmpty else { throw SettingsError(faults) }
        return found
    }

    /// The fault of a file that a configuration names; nil if it has none. Tokens are taken from the file.
    private static func look(at file: NamedFile, for configuration: inout GatewayConfiguration) -> SettingFault? {
        guard file.isNeeded else { return nil }
        func fault(_ sentence: String) -> SettingFault {
            SettingFault(place: file.place, path: file.key, sentence: "\(file.path) \(sentence)")
        }
        if file.purpose == .folder {
            var isFolder = false
            let exists = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            return exists && !isFolder ? fault("is a file; give a folder") : nil
        }
        switch self.contents(of: file.path, bytesMax: 1_048_576) {
        case .failure(let reason): return fault(reason.sentence)
        case .success(let text):
            if file.purpose == .operatorTokens {
                let tokens = text.split(whereSeparator: \.isNewline).map { line in
                    line.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
                }
                .filter { !$0.isEmpty && !$0.hasPrefix("#") }
                if tokens.isEmpty { return fault("has no token; write one per line") }
                for (index, token) in tokens.enumerated() {
                    let refusal = GatewayConfiguration.Operators.sentence(refusing: token, number: index + 1)
                    if let refusal { return fault("has \(refusal)") }
                }
                configuration.operators.tokens += tokens.map { Secret($0) }
                return nil
            }
            return file.purpose.sentence(refusing: text).map { fault($0) }
        }
    }

    /// Why a file was not read; continues a sentence that starts with its name.
    private struct ReadError: Error {
        let sentence: String
    }

    private static func contents(of path: String, bytesMax: Int) -> Result<String, ReadError> {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return .failure(ReadError(sentence: "does not exist"))
        }
        if isFolder { return .failure(ReadError(sentence: "is a folder; give a file")) }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            return .failure(ReadError(sentence: "cannot be read; check its owner and mode"))
        }
        guard data.count <= bytesMax else {
            return .failure(ReadError(sentence: "is longer than \(bytesMax.grouped) bytes"))
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            return .failure(ReadError(sentence: "is not UTF-8 text"))
        }
        return .success(text)
    }
}

extension FilePurpose {
    /// The fault of a file's text; nil if it has none. Of PEM files it catches files that were swapped; OpenSSL judges the contents.
    fileprivate func sentence(refusing text: String) -> String? {
        let expected: (label: [String], what: String)
        switch self {
        case .certificates: expected = (["CERTIFICATE-----"], "certificate")
        case .privateKey: expected = (["PRIVATE KEY-----"], "private key")
        case .providerKey: expected = (["PRIVATE KEY-----", "PUBLIC KEY-----"], "private or public key")
        case .secret:
            let count = text.filter { !$0.isWhitespace }.utf8.count
            return count < GatewayConfiguration.Operators.tokenBytesMin
                ? "has a secret of fewer than 16 characters; use a longer one (openssl rand -base64 32)" : nil
        case .bearerToken:
            return GatewayConfiguration.TimelineProvider.token(in: text) == nil
                ? "has no token on its first line: printable ASCII without spaces" : nil
        case .brokerSecret:
            return text.prefix { !$0.isNewline }.isEmpty
                ? "has an empty first line; write the password, the seed of a key, or the JWT there" : nil
        case .revocationList, .operatorTokens, .folder: return nil
        }
        let headers = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("-----BEGIN ") }
        if headers.contains(where: { header in expected.label.contains { header.hasSuffix($0) } }) { return nil }
        let found = headers.first.map { "; it begins with \(String($0).quotedForMessage)" } ?? ""
        return "has no \(expected.what) in PEM\(found)"
    }
}

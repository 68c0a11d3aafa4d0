/// The hosts that rows of one table have, for one question. A host's code is its number plus one.
struct HostCodes: CodeValues {
    private let hosts: any HostNaming
    let highestCode: Int
    /// The rows by code; nil while there are no lists.
    private let lists: PostingLists?

    /// - Parameters:
    ///   - hosts: Whom the numbers stand for.
    ///   - highestCode: The highest code that a row may have.
    ///   - column: The column of hosts.
    init(_ hosts: any HostNaming, highestCode: Int, in column: RowColumn) {
        self.hosts = hosts
        self.highestCode = highestCode
        self.lists = column.hasLists ? column.lists : nil
    }

    /// The code of the host whose id a literal is, as far as the highest; 0 if there is none.
    static func code(_ literal: MatchLiteral, _ hosts: some HostNaming, highestCode: Int) -> UInt32 {
        guard case .string(let id) = literal, let number = hosts.number(ofHost: id.bytes), number < highestCode
        else { return 0 }
        return number + 1
    }

    func codes(equalTo literal: MatchLiteral) -> [UInt32] {
        let code = Self.code(literal, self.hosts, highestCode: self.highestCode)
        return code != 0 && self.isHad(code) ? [code] : []
    }

    /// Whether a row may have a code: the hosts of other kinds have numbers too.
    private func isHad(_ code: UInt32) -> Bool {
        guard let lists = self.lists else { return true }
        return lists.count(of: code) > 0
    }

    func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool {
        guard code != 0 else { return atoms.contains(.exists(false)) }
        var isSatisfied = false
        self.hosts.forEachHost(in: code - 1..<code) { _, id in isSatisfied = Self.satisfies(id, atoms) }
        return isSatisfied
    }

    private static func satisfies(_ id: Span<UInt8>, _ atoms: [MatchAtom]) -> Bool {
        for index in atoms.indices where atoms.span[index].matches(text: id) { return true }
        return false
    }

    func mark(_ atoms: [MatchAtom], in table: inout [UInt8]) {
        if self.satisfies(0, atoms) { table[0] = 1 }
        self.hosts.forEachHost(in: 0..<UInt32(self.highestCode)) { number, id in
            if self.isHad(number + 1), Self.satisfies(id, atoms) { table[Int(number) + 1] = 1 }
        }
    }
}

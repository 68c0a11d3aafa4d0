/// The instances as text, for the peers: id, topic, team, league, account, health, premium, family and alliances, by tabs.
enum InstanceLines {
    static func print(_ count: Int, version: Int) {
        let population = Population(count: count)
        var lines = ""
        for number in 0..<count {
            let row = population.row(number, version: version)
            let alliances = row.alliances.map(String.init).joined(separator: ",")
            lines += "\(number)\t\(row.topic)\t\(row.team)\t\(row.league)\t\(row.account)\t\(row.health)\t"
            lines += "\(row.premium ? 1 : 0)\t\(number % 6)\t\(alliances)\n"
            if lines.utf8.count > 1 << 16 {
                Swift.print(lines, terminator: "")
                lines = ""
            }
        }
        Swift.print(lines, terminator: "")
    }
}

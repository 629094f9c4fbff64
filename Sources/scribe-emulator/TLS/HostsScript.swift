import ArgumentParser

/// A shell script that keeps the lines in the hosts file of another machine, which has no scribe-emulator: the one on which
/// the server's container runs.
struct HostsScript {
    /// The kinds of machines whose shell runs it.
    enum Machine: String, CaseIterable, ExpressibleByArgument {
        case mac, linux
    }

    let machine: Machine
    let address: String

    /// Our lines, of an earlier run too, out of the file.
    private var removal: String {
        let lines = "'/^\(HostsFile.mark): begin/,/^\(HostsFile.mark): end/d'"
        return switch machine {
        case .mac: "sudo sed -i '' \(lines) /etc/hosts"
        // GNU's leaves a last line without an end as it is, unless something is to follow it.
        case .linux: "sudo sed -i -e \(lines) -e '$a\\' /etc/hosts"
        }
    }

    var text: String {
        """
        # Leads the SDKs' hosts to \(address), in /etc/hosts. Taken out again by:
        #   \(removal)
        set -e
        \(removal)
        sudo tee -a /etc/hosts >/dev/null <<'HOSTS'
        \(HostsFile.marked(HostsFile.lines(leadingTo: address)).joined(separator: "\n"))
        HOSTS
        \(machine == .mac ? "sudo dscacheutil -flushcache; sudo killall -HUP mDNSResponder\n" : "")
        """
    }
}

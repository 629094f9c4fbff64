import ArgumentParser

/// Shell script that writes the block of ``HostsFile`` on another machine, which has no scribe-emulator. An example is
/// the machine that runs the server's container.
struct HostsScript {
    /// Operating system of the other machine.
    enum Machine: String, CaseIterable, ExpressibleByArgument {
        case mac, linux
    }

    let machine: Machine
    let address: String

    /// The command that removes the block, also one of an earlier run.
    private var removal: String {
        let lines = "'/^\(HostsFile.mark): begin/,/^\(HostsFile.mark): end/d'"
        return switch machine {
        case .mac: "sudo sed -i '' \(lines) /etc/hosts"
        // `$a\` makes GNU sed end the last line with a line feed.
        case .linux: "sudo sed -i -e \(lines) -e '$a\\' /etc/hosts"
        }
    }

    var text: String {
        """
        # Points the SDKs' hosts to \(address) in /etc/hosts. To undo it, run:
        #   \(removal)
        set -e
        \(removal)
        sudo tee -a /etc/hosts >/dev/null <<'HOSTS'
        \(HostsFile.marked(HostsFile.lines(mappingTo: address)).joined(separator: "\n"))
        HOSTS
        \(machine == .mac ? "sudo dscacheutil -flushcache; sudo killall -HUP mDNSResponder\n" : "")
        """
    }
}

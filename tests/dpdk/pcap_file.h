// Capture files in the classic pcap format, as net_pcap reads and writes them.

#ifndef PENSTOCK_TESTS_DPDK_PCAP_FILE_H_
#define PENSTOCK_TESTS_DPDK_PCAP_FILE_H_

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/frame.h"

namespace penstock::testing {

// Classic pcap, host byte order, microseconds, Ethernet.
inline void WritePcap(const std::string& path, const std::vector<Bytes>& frames) {
  std::ofstream file(path, std::ios::binary);
  const auto put = [&file](uint32_t word) {
    file.write(reinterpret_cast<const char*>(&word), sizeof(word));
  };
  for (const uint32_t word : {0xA1B2C3D4U, 0x00040002U, 0U, 0U, 65535U, 1U}) put(word);
  for (const Bytes& frame : frames) {
    const auto size = static_cast<uint32_t>(frame.size());
    for (const uint32_t word : {0U, 0U, size, size}) put(word);
    file.write(reinterpret_cast<const char*>(frame.data()),
               static_cast<std::streamsize>(frame.size()));
  }
}

// The frames of a file; those of a file that is cut end before the cut.
inline std::vector<Bytes> ReadPcap(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.ignore(24);  // the file's header
  std::vector<Bytes> frames;
  std::array<uint32_t, 4> record{};  // seconds, fraction, bytes here, bytes on the wire
  while (file.read(reinterpret_cast<char*>(record.data()), sizeof(record))) {
    Bytes frame(record[2]);
    if (!file.read(reinterpret_cast<char*>(frame.data()),
                   static_cast<std::streamsize>(frame.size()))) {
      break;
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_DPDK_PCAP_FILE_H_

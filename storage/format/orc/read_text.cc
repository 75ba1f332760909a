// Columns of strings, chars, varchars and binaries, direct and with dictionaries.

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/format/json_text.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/spread.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr int64_t kMostBytes = std::numeric_limits<int32_t>::max();

bool IsDictionary(const Encoding& encoding) {
  return encoding.kind == EncodingKind::kDictionary || encoding.kind == EncodingKind::kDictionaryV2;
}

// Copies a value that is mostly short; both sides have slack behind them.
void CopyShort(const uint8_t* from, size_t length, uint8_t* to) {
  static_assert(ByteStream::kSlack >= 16);
  if (length <= 16) {
    std::memcpy(to, from, 16);
  } else {
    std::memcpy(to, from, length);
  }
}

// Values of CHAR(n) are padded to n characters, those of VARCHAR(n) cut to it (TY-8); most need
// neither.
class CharacterFitter {
 public:
  explicit CharacterFitter(const HiveType& type)
      : pads_(type.kind == TypeKind::kChar),
        cuts_(pads_ || type.kind == TypeKind::kVarchar),
        width_(type.length) {}

  // `lengths[i]` bytes each, one after another in `bytes`.
  bool Fits(const int64_t* lengths, int64_t count, const uint8_t* bytes) const {
    if (!cuts_) return true;
    for (int64_t i = 0; i < count; bytes += lengths[i++]) {
      if (lengths[i] <= width_ && !pads_) continue;
      const int64_t characters = format::CharacterCount(View(bytes, lengths[i]));
      if (pads_ ? characters != width_ : characters > width_) return false;
    }
    return true;
  }

  // At most this many bytes after Fit.
  int64_t MostBytes(int64_t count, int64_t total) const {
    return pads_ ? total + count * width_ : total;
  }

  // Fits the values into `out`; returns their bytes.
  int64_t Fit(int64_t* lengths, int64_t count, const uint8_t* bytes, uint8_t* out) const {
    const uint8_t* const begin = out;
    for (int64_t i = 0; i < count; ++i) {
      const std::string_view value = View(bytes, lengths[i]);
      bytes += lengths[i];
      const std::string_view cut = format::CharacterPrefix(value, width_);
      std::memcpy(out, cut.data(), cut.size());
      out += cut.size();
      lengths[i] = static_cast<int64_t>(cut.size());
      if (!pads_) continue;
      const int64_t missing = width_ - format::CharacterCount(cut);
      std::memset(out, ' ', static_cast<size_t>(missing));
      out += missing;
      lengths[i] += missing;
    }
    return out - begin;
  }

 private:
  static std::string_view View(const uint8_t* bytes, int64_t length) {
    return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(length)};
  }

  bool pads_;
  bool cuts_;
  int64_t width_;
};

class TextReader : public ColumnReader {
 public:
  TextReader(StripeSource& source, const PlanNode& node)
      : ColumnReader(source, node),
        fitter_(node.type),
        lengths_(OpenInts(StreamKind::kLength, Signedness::kUnsigned)) {}

 protected:
  // The sum of `count` lengths, which `left` bytes may be there for.
  absl::StatusOr<int64_t> Sum(const int64_t* lengths, int64_t count, uint64_t left) const {
    uint64_t sum = 0, any = 0;
    for (int64_t i = 0; i < count; ++i) {
      any |= static_cast<uint64_t>(lengths[i]);
      sum += static_cast<uint64_t>(lengths[i]);
    }
    if (any > kMostBytes || sum > left) {
      return lengths_.stream().Bad("lengths of more than the stripe can hold");
    }
    return static_cast<int64_t>(sum);
  }

  // Offsets of the slots, whose values have `lengths`.
  absl::StatusOr<std::shared_ptr<arrow::Buffer>> Offsets(const Slots& slots,
                                                         const int64_t* lengths) const {
    SKEP_ASSIGN_OR_RETURN(auto buffer,
                          NewBuffer((slots.length + 1) * static_cast<int64_t>(sizeof(int32_t))));
    auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
    int32_t at = 0;
    offsets[0] = 0;
    if (slots.valid == nullptr) {
      for (int64_t i = 0; i < slots.length; ++i) {
        offsets[i + 1] = at += static_cast<int32_t>(lengths[i]);
      }
      return buffer;
    }
    const uint8_t* valid = slots.bits();
    int64_t next = 0;
    for (int64_t i = 0; i < slots.length; ++i) {
      if (BitAt(valid, i)) at += static_cast<int32_t>(lengths[next++]);
      offsets[i + 1] = at;
    }
    return buffer;
  }

  // Before that many bytes are asked for: Arrow's offsets end at 2 GiB.
  absl::Status CheckTotal(int64_t bytes) const {
    return bytes <= kMostBytes ? absl::OkStatus() : NewBuffer(bytes).status();
  }

  const CharacterFitter fitter_;
  IntDecoder lengths_;
};

class DirectReader final : public TextReader {
 public:
  DirectReader(StripeSource& source, const PlanNode& node)
      : TextReader(source, node), bytes_(source.Open(node, StreamKind::kData)) {}

  void Save() override {
    ColumnReader::Save();
    lengths_.Save(&saved_lengths_);
    saved_bytes_ = bytes_.Tell();
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(lengths_.Restore(saved_lengths_));
    SKEP_RETURN_IF_ERROR(bytes_.Seek(saved_bytes_));
    return ColumnReader::Restore();
  }

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_RETURN_IF_ERROR(Grow(&scratch_, slots.count));
    int64_t* lengths = scratch_.data();
    SKEP_RETURN_IF_ERROR(lengths_.Next(lengths, static_cast<size_t>(slots.count)));
    int64_t total = 0;
    if (slots.count > 0) {
      SKEP_ASSIGN_OR_RETURN(total, Sum(lengths, slots.count, bytes_.MostLeft()));
    }
    SKEP_RETURN_IF_ERROR(CheckTotal(total));
    SKEP_ASSIGN_OR_RETURN(auto values, NewBuffer(total));
    SKEP_RETURN_IF_ERROR(bytes_.Read(values->mutable_data(), static_cast<size_t>(total)));
    if (!fitter_.Fits(lengths, slots.count, values->data())) {
      SKEP_RETURN_IF_ERROR(CheckTotal(fitter_.MostBytes(slots.count, total)));
      SKEP_ASSIGN_OR_RETURN(auto fitted, NewBuffer(fitter_.MostBytes(slots.count, total)));
      fitter_.Fit(lengths, slots.count, values->data(), fitted->mutable_data());
      values = std::move(fitted);
    }
    SKEP_ASSIGN_OR_RETURN(auto offsets, Offsets(slots, lengths));
    return Array(slots, {std::move(offsets), std::move(values)});
  }

  absl::Status SkipValues(uint64_t count) override {
    constexpr uint64_t kPiece = 4096;
    scratch_.resize(std::max<size_t>(scratch_.size(), std::min(count, kPiece)));
    while (count > 0) {
      const auto piece = static_cast<int64_t>(std::min(count, kPiece));
      SKEP_RETURN_IF_ERROR(lengths_.Next(scratch_.data(), static_cast<size_t>(piece)));
      SKEP_ASSIGN_OR_RETURN(const int64_t total,
                            Sum(scratch_.data(), piece, std::numeric_limits<uint64_t>::max()));
      SKEP_RETURN_IF_ERROR(bytes_.Skip(static_cast<uint64_t>(total)));
      count -= static_cast<uint64_t>(piece);
    }
    return absl::OkStatus();
  }
  absl::Status SeekValues(PositionCursor& positions) override {
    SKEP_RETURN_IF_ERROR(bytes_.Seek(positions.Bytes()));
    const ByteStream::Position position = positions.Bytes();
    return lengths_.Seek(position, positions.Number());
  }
  size_t PositionCount() const override {
    return PositionCursor::OfBytes(compressed()) + PositionCursor::OfRuns(compressed());
  }

 private:
  ByteStream bytes_;
  std::vector<int64_t> scratch_;
  IntDecoder::Place saved_lengths_;
  ByteStream::Position saved_bytes_;
};

class DictionaryReader final : public TextReader {
 public:
  DictionaryReader(StripeSource& source, const PlanNode& node)
      : TextReader(source, node), indexes_(OpenInts(StreamKind::kData, Signedness::kUnsigned)) {}

  void Save() override {
    ColumnReader::Save();
    indexes_.Save(&saved_);
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(indexes_.Restore(saved_));
    return ColumnReader::Restore();
  }

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_RETURN_IF_ERROR(Grow(&scratch_, slots.count));
    SKEP_RETURN_IF_ERROR(Grow(&lengths_of_values_, slots.count));
    if (slots.count > 0 && !loaded_) SKEP_RETURN_IF_ERROR(LoadDictionary());
    SKEP_RETURN_IF_ERROR(indexes_.Next(scratch_.data(), static_cast<size_t>(slots.count)));
    const auto entries = static_cast<uint64_t>(starts_.empty() ? 0 : starts_.size() - 1);
    int64_t total = 0;
    for (int64_t i = 0; i < slots.count; ++i) {
      const auto index = static_cast<uint64_t>(scratch_[static_cast<size_t>(i)]);
      if (index >= entries)
        return indexes_.stream().Bad("a value behind the end of its dictionary");
      const int64_t length = starts_[index + 1] - starts_[index];
      lengths_of_values_[static_cast<size_t>(i)] = length;
      total += length;
    }
    SKEP_RETURN_IF_ERROR(CheckTotal(total));
    SKEP_ASSIGN_OR_RETURN(auto values, NewBuffer(total));
    uint8_t* out = values->mutable_data();
    for (int64_t i = 0; i < slots.count; ++i) {
      const auto at = static_cast<size_t>(i);
      const auto length = static_cast<size_t>(lengths_of_values_[at]);
      CopyShort(dictionary_.get() + starts_[static_cast<size_t>(scratch_[at])], length, out);
      out += length;
    }
    SKEP_ASSIGN_OR_RETURN(auto offsets, Offsets(slots, lengths_of_values_.data()));
    return Array(slots, {std::move(offsets), std::move(values)});
  }

  absl::Status SkipValues(uint64_t count) override { return indexes_.Skip(count); }
  absl::Status SeekValues(PositionCursor& positions) override {
    const ByteStream::Position position = positions.Bytes();
    return indexes_.Seek(position, positions.Number());
  }
  size_t PositionCount() const override { return PositionCursor::OfRuns(compressed()); }

 private:
  absl::Status LoadDictionary() {
    const auto entries = static_cast<int64_t>(source().encoding(node().column).dictionary_size);
    ByteStream bytes = source().Open(node(), StreamKind::kDictionaryData);
    // Entries are distinct: at most one of them is empty. And they are kept, 16 bytes each beside
    // their text, for the whole stripe.
    if (static_cast<uint64_t>(std::max<int64_t>(entries, 1) - 1) > bytes.MostLeft() ||
        entries > static_cast<int64_t>(ReadBudget::kMostOfRow / 16)) {
      return Damaged("a dictionary of " + std::to_string(entries) +
                     " entries without the bytes for them");
    }
    std::vector<int64_t> lengths;
    constexpr int64_t kPiece = 1 << 16;  // a hostile count must not allocate by itself
    while (static_cast<int64_t>(lengths.size()) < entries) {
      const auto have = lengths.size();
      lengths.resize(static_cast<size_t>(
          std::min(entries, static_cast<int64_t>(have) + std::max<int64_t>(kPiece, have))));
      SKEP_RETURN_IF_ERROR(lengths_.Next(lengths.data() + have, lengths.size() - have));
    }
    SKEP_ASSIGN_OR_RETURN(int64_t total, Sum(lengths.data(), entries, bytes.MostLeft()));
    if (total > static_cast<int64_t>(ReadBudget::kMostOfRow)) return Damaged(kTooLarge);
    const auto allocate = [](int64_t size) {
      return std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(size) +
                                                       ByteStream::kSlack);
    };
    dictionary_ = allocate(total);
    SKEP_RETURN_IF_ERROR(bytes.Read(dictionary_.get(), static_cast<size_t>(total)));
    if (!fitter_.Fits(lengths.data(), entries, dictionary_.get())) {
      const int64_t most = fitter_.MostBytes(entries, total);
      if (most > static_cast<int64_t>(ReadBudget::kMostOfRow)) return Damaged(kTooLarge);
      auto fitted = allocate(most);
      fitter_.Fit(lengths.data(), entries, dictionary_.get(), fitted.get());
      dictionary_ = std::move(fitted);
    }
    starts_.resize(static_cast<size_t>(entries) + 1);
    int64_t at = 0;
    for (size_t i = 0; i < lengths.size(); ++i) starts_[i + 1] = at += lengths[i];
    loaded_ = true;
    return absl::OkStatus();
  }

  static constexpr std::string_view kTooLarge = "a dictionary of more than a gigabyte";

  IntDecoder indexes_;
  IntDecoder::Place saved_;
  bool loaded_ = false;
  std::unique_ptr<uint8_t[]> dictionary_;  // kSlack bytes behind the last entry
  std::vector<int64_t> starts_;            // of each entry, and the end
  std::vector<int64_t> scratch_;
  std::vector<int64_t> lengths_of_values_;
};

}  // namespace

ColumnReaderOr MakeTextReader(StripeSource& source, const PlanNode& node) {
  if (IsDictionary(source.encoding(node.column))) {
    return std::unique_ptr<ColumnReader>(new DictionaryReader(source, node));
  }
  return std::unique_ptr<ColumnReader>(new DirectReader(source, node));
}

}  // namespace skep::orc

// STRING, VARCHAR and CHAR: with a dictionary where that takes less room.

#include <algorithm>
#include <array>
#include <cstdint>

#include "storage/base/status_macros.h"
#include "storage/format/orc/scalar_writers.h"
#include "storage/format/orc/text_dictionary.h"
#include "storage/format/orc/text_range.h"

namespace skep::orc {

namespace {

// After so many values of a stripe it is measured whether the dictionary pays: early where nearly
// every value was new or the stripe before had none, else when new texts have had time to get rare.
constexpr size_t kFirstLook = 4096;
constexpr size_t kSecondLook = 65536;
constexpr size_t kNoLook = SIZE_MAX;
constexpr size_t kSample = 4096;  // values that are compressed for it

class TextWriter final : public ColumnWriter {
 public:
  TextWriter(const ColumnContext& context, uint32_t column)
      : ColumnWriter(context, column),
        data_(context.compressor, context.block_size),
        indexes_out_(
            context.compressor, context.block_size, Signedness::kUnsigned, context.packing),
        lengths_(context.compressor, context.block_size, Signedness::kUnsigned, context.packing) {
    EnableBloom();
  }

  proto::ColumnEncoding Encoding() const override {
    if (direct_) return Direct(EncodingKind::kDirectV2);
    proto::ColumnEncoding encoding = Direct(EncodingKind::kDictionaryV2);
    encoding.set_dictionary_size(static_cast<uint32_t>(entries_));
    return encoding;
  }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int32_t* const offsets = data.GetValues<int32_t>(1) + from;
    const char* const bytes =
        offsets[count] == offsets[0] ? "" : reinterpret_cast<const char*>(data.buffers[2]->data());
    const auto text = [&](int64_t i) {
      return offsets[i + 1] == offsets[i]
                 ? std::string_view()
                 : std::string_view(bytes + offsets[i],
                                    static_cast<size_t>(offsets[i + 1] - offsets[i]));
    };
    for (int64_t i = 0; i < count; ++i) range_.Add(text(i));
    if (bloom_ != nullptr) {
      for (int64_t i = 0; i < count; ++i) bloom_->AddBytes(text(i));
    }
    int64_t at = 0;
    for (; at < count && !direct_; ++at) {
      if (at > 0 && text(at) == text(at - 1)) {
        indexes_.push_back(indexes_.back());
      } else {
        indexes_.push_back(dictionary_.Add(text(at)));
      }
      if (indexes_.size() == next_look_ ||
          dictionary_.bytes().size() > context_.most_dictionary_bytes) {
        SKEP_RETURN_IF_ERROR(Look());
      }
    }
    if (at == count) return absl::OkStatus();
    data_.Append(bytes + offsets[at], static_cast<size_t>(offsets[count] - offsets[at]));
    AddLengths(count - at, [&](int64_t i) { return offsets[at + i + 1] - offsets[at + i]; });
    return absl::OkStatus();
  }

  // While it is open how the values are stored, the places are kept as numbers of values.
  void AddPositions(Positions* out) const override {
    if (direct_) AddDirectPositions(out);
  }
  void TakeStatistics(proto::ColumnStatistics* out) override { range_.Take(out); }

  absl::Status FinishStreams() override {
    if (!direct_ && !indexes_.empty() && next_look_ != kNoLook) {
      SKEP_ASSIGN_OR_RETURN(const bool pays, DictionaryPays(Outlook::kNothingFollows));
      if (!pays) GoDirect();
    }
    if (!direct_) WriteDictionary();
    SKEP_RETURN_IF_ERROR(data_.Finish());
    SKEP_RETURN_IF_ERROR(indexes_out_.Finish());
    return lengths_.Finish();
  }

  void AddStreams(std::vector<FinishedStream>* out) const override {
    if (direct_) {
      out->push_back({StreamKind::kData, &data_});
    } else {
      out->push_back({StreamKind::kData, &indexes_out_.stream()});
      out->push_back({StreamKind::kDictionaryData, &data_});
    }
    out->push_back({StreamKind::kLength, &lengths_.stream()});
  }

  void ClearStreams() override {
    if (rows_in_stripe_ > kFirstLook) was_direct_ = direct_;
    data_.Clear();
    indexes_out_.Clear();
    lengths_.Clear();
    ForgetDictionary();
    direct_ = false;
    next_look_ = kFirstLook;
    entries_ = rows_in_stripe_ = 0;
  }

  uint64_t StreamBytes() const override {
    const uint64_t open =
        direct_ ? 0 : dictionary_.memory() + indexes_.capacity() * sizeof(uint32_t);
    return data_.size() + lengths_.size() + open;
  }

 private:
  enum class Outlook { kMoreFollows, kNothingFollows };

  void StartOfGroup() override {
    if (!direct_) group_starts_.push_back(indexes_.size());
  }

  template <class Length>
  void AddLengths(int64_t count, const Length& length) {
    std::array<int64_t, kMaxIntRun> part;
    for (int64_t at = 0; at < count;) {
      const int64_t now = std::min<int64_t>(count - at, kMaxIntRun);
      for (int64_t i = 0; i < now; ++i) part[static_cast<size_t>(i)] = length(at + i);
      lengths_.Add(part.data(), static_cast<size_t>(now));
      at += now;
    }
  }

  void AddDirectPositions(Positions* out) const {
    data_.AddPosition(out);
    lengths_.AddPosition(out);
  }

  // At the looks, and when the dictionary has become too large.
  absl::Status Look() {
    const bool first = indexes_.size() == kFirstLook;
    const bool hopeless = dictionary_.size() > kFirstLook - kFirstLook / 128;
    if (first && !was_direct_ && !hopeless) {
      next_look_ = kSecondLook;
      return absl::OkStatus();
    }
    bool pays = false;
    if (dictionary_.bytes().size() <= context_.most_dictionary_bytes) {
      SKEP_ASSIGN_OR_RETURN(pays, DictionaryPays(Outlook::kMoreFollows));
    }
    next_look_ = first ? kSecondLook : kNoLook;
    if (!pays) GoDirect();
    return absl::OkStatus();
  }

  // Compresses the newest values in both forms. Of the dictionary counts what these values added,
  // or, where nothing follows, their share of all of it.
  absl::StatusOr<bool> DictionaryPays(Outlook outlook) {
    const size_t values = indexes_.size();
    const size_t from =
        outlook == Outlook::kNothingFollows ? 0 : values - std::min(values, kSample);
    OutStream direct(context_.compressor, context_.block_size);
    OutStream entries(context_.compressor, context_.block_size);
    IntEncoder indexes(
        context_.compressor, context_.block_size, Signedness::kUnsigned, context_.packing);
    IntEncoder lengths(
        context_.compressor, context_.block_size, Signedness::kUnsigned, context_.packing);
    IntEncoder entry_lengths(
        context_.compressor, context_.block_size, Signedness::kUnsigned, context_.packing);
    // An entry is new here if no value before `from` has it: entries count by first appearance.
    uint32_t known = 0;
    for (size_t i = 0; i < from; ++i) known = std::max(known, indexes_[i] + 1);
    for (size_t i = from; i < values; ++i) {
      const std::string_view text = dictionary_.At(indexes_[i]);
      direct.Append(text);
      const auto length = static_cast<int64_t>(text.size());
      lengths.Add(&length, 1);
    }
    indexes.Add(indexes_.data() + from, values - from);
    for (uint32_t entry = known; entry < dictionary_.size(); ++entry) {
      const std::string_view text = dictionary_.At(entry);
      entries.Append(text);
      const auto length = static_cast<int64_t>(text.size());
      entry_lengths.Add(&length, 1);
    }
    for (IntEncoder* stream : {&indexes, &lengths, &entry_lengths})
      SKEP_RETURN_IF_ERROR(stream->Finish());
    SKEP_RETURN_IF_ERROR(direct.Finish());
    SKEP_RETURN_IF_ERROR(entries.Finish());
    return indexes.stream().length() + entries.length() + entry_lengths.stream().length() <=
           direct.length() + lengths.stream().length();
  }

  // Calls `part(first, end)` for the values between the starts of groups, and adds the positions of
  // each start on the way.
  template <class Part, class Add>
  void EachGroup(const Part& part, const Add& add) {
    for (size_t g = 0; g < group_starts_.size(); ++g) {
      add(&groups_[g].positions);
      part(group_starts_[g], g + 1 < group_starts_.size() ? group_starts_[g + 1] : indexes_.size());
    }
  }

  void GoDirect() {
    direct_ = true;
    EachGroup(
        [&](size_t first, size_t end) {
          for (size_t i = first; i < end; ++i) data_.Append(dictionary_.At(indexes_[i]));
          AddLengths(static_cast<int64_t>(end - first), [&](int64_t i) {
            return dictionary_.At(indexes_[first + static_cast<size_t>(i)]).size();
          });
        },
        [&](Positions* out) { AddDirectPositions(out); });
    rows_in_stripe_ = indexes_.size();
    ForgetDictionary();
  }

  void WriteDictionary() {
    const std::vector<uint32_t> order = dictionary_.Sorted();
    std::vector<uint32_t> rank(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      data_.Append(dictionary_.At(order[i]));
    }
    AddLengths(static_cast<int64_t>(order.size()),
               [&](int64_t i) { return dictionary_.At(order[static_cast<size_t>(i)]).size(); });
    for (uint32_t& index : indexes_) index = rank[index];
    EachGroup(
        [&](size_t first, size_t end) { indexes_out_.Add(indexes_.data() + first, end - first); },
        [&](Positions* out) { indexes_out_.AddPosition(out); });
    entries_ = order.size();
    rows_in_stripe_ = indexes_.size();
  }

  void ForgetDictionary() {
    dictionary_.Clear();
    indexes_ = {};
    group_starts_.clear();
  }

  OutStream data_;  // the texts, or the dictionary's
  IntEncoder indexes_out_;
  IntEncoder lengths_;
  TextDictionary dictionary_;
  std::vector<uint32_t> indexes_;     // of the stripe's values, as long as not direct_
  std::vector<size_t> group_starts_;  // in values
  size_t next_look_ = kFirstLook;     // in values
  bool direct_ = false;
  bool was_direct_ = false;  // in the stripe before
  size_t entries_ = 0, rows_in_stripe_ = 0;
  TextRange range_;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeTextWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<TextWriter>(context, column);
}

}  // namespace skep::orc
